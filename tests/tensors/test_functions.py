"""Functions in both forms: gradients against finite differences, and the fused against the composed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference
from bindings import Library
from conformance.limits.noise import FLOAT32
from tensors import Tensor, TensorError
from tensors.functions import COMPOSED, FUSED, Composed
from tensors.tape import Variable
from tests.graph.limits import shares
from tests.tensors.noise import DOUBLES, expected, on, results
from tests.tensors.test_gradients import drawn, hold_against_differences

FORMS = {"composed": COMPOSED, "fused": FUSED}
INDICES = np.array([[2, 0, 2], [1, 2, 3]], np.int32)
TARGETS = np.array([1, -1, 0, 3], np.int32)
PHILOX = np.array([7, 3], np.uint64)
X, W, B = drawn((2, 3, 4), 1), drawn((4,), 2), drawn((4,), 3)
Q, K, V = drawn((2, 3, 4, 2), 4), drawn((2, 3, 2, 2), 5), drawn((2, 3, 2, 2), 6)
SCORES = drawn((2, 2, 3, 4), 13)
CHOSEN = (np.zeros((4, 2)), np.array([[1, 0], [2, 1], [1, 2], [0, 1]], np.int32))
EPS = 2.0**-10
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "linear": (lambda f, x, w: f.linear(x, w), [X, drawn((5, 4), 7)]),
    "take": (lambda f, w: f.take(w, INDICES), [drawn((4, 3), 8)]),
    "dropout": (lambda f, x: f.dropout(x, PHILOX, 0.5), [X]),
    "softmax": (lambda f, x: f.softmax(x), [X]),
    "log_softmax": (lambda f, x: f.log_softmax(x), [X]),
    "rmsnorm": (lambda f, x, w: f.rmsnorm(x, w, EPS), [X, W]),
    "layernorm": (lambda f, x, w, b: f.layernorm(x, w, b, EPS), [X, W, B]),
    "swiglu": (lambda f, x, y: f.swiglu(x, y), [X, drawn((2, 3, 4), 9)]),
    "rope": (lambda f, x: f.rope(x, np.array([[0.0], [0.5], [2.0]], x.value.dtype)), [Q]),
    "attention": (lambda f, q, k, v: f.attention(q, k, v, 0.5), [Q, K, V]),
    "attention to all": (lambda f, q, k, v: f.attention(q, k, v, 0.5, causal=False), [Q, K, V]),
    "attention with a mask": (
        lambda f, q, k, v: f.attention(q, k, v, 0.5, False, _mask(q, [[0.0, 0.0, -np.inf], [0.0, -np.inf, 0.0]])),
        [Q, K, V],
    ),
    "attention with both masks": (
        lambda f, q, k, v: f.attention(q, k, v, 0.5, True, _mask(q, [[0.0, 0.0, -np.inf], [-np.inf, 0.0, 0.0]])),
        [Q, K, V],
    ),
    "attention softmax": (lambda f, x: f.attention_softmax(x, 0.5), [SCORES]),
    "attention softmax of queries ahead of the keys": (lambda f, x: f.attention_softmax(x, 0.5, offset=-2), [SCORES]),
    "attention softmax of no key": (
        lambda f, x: f.attention_softmax(x, 0.5, True, _mask(x, [[0.25, -np.inf, 0.5, 0.0], [-np.inf] * 4]), 1),
        [SCORES],
    ),
    "cross entropy": (lambda f, x: f.cross_entropy(x, TARGETS), [drawn((4, 4), 10)]),
    "auxiliary loss": (lambda f, x: f.auxiliary_loss(x, CHOSEN, 0.5), [drawn((4, 3), 11)]),
}


def _mask(like: Variable, rows: list[list[float]]) -> Tensor:
    return Tensor(np.array(rows, like.value.dtype), like.value.ops)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_finite_differences(name: str, form: str) -> None:
    function, arrays = FUNCTIONS[name]
    hold_against_differences(lambda *inputs: function(FORMS[form], *inputs), arrays)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_on_the_c_library(name: str, form: str, stub: Library) -> None:
    function, arrays = FUNCTIONS[name]

    def f(*inputs: Variable) -> Variable:
        result: Variable = function(FORMS[form], *inputs)
        return result

    weights = drawn(f(*map(Variable, map(DOUBLES, arrays))).shape, 12)
    noise = expected(f, arrays, weights, FLOAT32)
    found = shares(noise, results(f, arrays, weights, on(stub, np.float32)), both_err=False)
    assert max(found.values()) <= 1, found


def test_the_fused_form_has_what_the_composed_has() -> None:
    public = {name for name in vars(Composed) if not name.startswith("_")}
    assert public - {"take", "dropout", "log_softmax", "choose"} <= {*vars(type(FUSED))}


@pytest.mark.parametrize("form", FORMS)
def test_a_softmax_writes_neither_the_scores_nor_a_gradient(form: str, stub: Library) -> None:
    ops = on(stub, np.float32)
    x, d = (Variable(ops(array), requires_grad=True) for array in (SCORES, SCORES * 2))
    FORMS[form].attention_softmax(x, 0.5).backward(d.value)
    for held, due in ((x, SCORES), (d, SCORES * 2)):
        np.testing.assert_array_equal(held.value.numpy(), due.astype(np.float32))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("hidden", [np.nan, np.inf, -np.inf, 3e38])
def test_what_a_score_behind_a_query_is_is_not_looked_at(form: str, hidden: float, stub: Library) -> None:
    """Behind a query; the gradient there is 0. What a mask hides it is added to, as in the header."""
    masked = np.array([[0.0, -np.inf, 0.0, 0.0], [0.0, 0.0, 0.0, -np.inf]], np.float32)
    seen = np.tri(3, 4, 1, dtype=bool)
    for ops in (stub, reference):
        results = []
        for other in (0.0, hidden):
            scores = Variable(Tensor(np.where(seen, SCORES, other).astype(np.float32), ops), requires_grad=True)
            weights = FORMS[form].attention_softmax(scores, 2.0, True, Tensor(masked, ops), 1)
            weights.backward(Tensor(SCORES.astype(np.float32), ops))
            assert scores.grad is not None
            results.append((weights.numpy(), scores.grad.numpy()))
        for with_zeros, with_hidden in zip(*results, strict=True):
            assert np.array_equal(with_hidden, with_zeros)
            assert not with_hidden[~np.broadcast_to(seen, with_hidden.shape)].any()


@pytest.mark.parametrize("form", FORMS)
def test_scores_and_masks_that_do_not_fit_are_refused(form: str) -> None:
    scores, mask = (Tensor(np.zeros(shape), reference) for shape in ((1, 2, 3, 4), (1, 3)))
    with pytest.raises(TensorError, match=r"attention_softmax: expected a mask of shape \(1, 4\), got \(1, 3\)"):
        FORMS[form].attention_softmax(Variable(scores), 1.0, mask=mask)
    with pytest.raises(TensorError, match=r"expected scores \(batch, heads, queries, keys\), got \(1, 3\)"):
        FORMS[form].attention_softmax(Variable(mask), 1.0)


def test_heads_that_do_not_fit_are_refused() -> None:
    q, k = (Variable(Tensor(np.zeros((1, 2, heads, 4)), reference)) for heads in (3, 2))
    with pytest.raises(TensorError, match="attention: expected query heads in a multiple of 2 KV heads, got 3"):
        COMPOSED.attention(q, k, k, 1.0)
