"""Fused operations against what they are composed of: the same numbers, within the noise of the composed form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bindings import Library
from conformance.limits.noise import FLOAT32
from tensors.tape import Variable
from tests.graph.limits import shares
from tests.tensors.noise import Expression, expected, on, results

EPS, SCALE = 2.0**-10, 0.25
MASKED = -(2.0**20)  # added to a score: its exponential is 0
Size = tuple[int, ...]


def softmax(x: Variable) -> Variable:
    shifted = (x - x.max(-1, keepdims=True)).map("exp")
    return shifted / shifted.sum(-1, keepdims=True)


def layernorm(x: Variable, weight: Variable, bias: Variable) -> Variable:
    apart = x - x.mean(1, keepdims=True)
    spread = apart.map("square").mean(1, keepdims=True)
    return apart * (spread + EPS).map("rsqrt") * weight + bias


def attention(q: Variable, k: Variable, v: Variable, future: Variable) -> Variable:
    """q: (batch, seq, heads, dim); k, v: (batch, seq, kv heads, dim); future: (seq, seq), added to all scores."""
    batch, seq, heads, dim = q.shape
    groups = k.shape[2]
    queries = q.reshape((batch, seq, groups, heads // groups, dim)).permute_dims((0, 2, 3, 1, 4))
    keys, values = (x.permute_dims((0, 2, 1, 3)).expand_dims(2) for x in (k, v))
    output = softmax(queries @ keys.mT * SCALE + future) @ values
    return output.permute_dims((0, 3, 1, 2, 4)).contiguous().reshape((batch, seq, heads, dim))


def masked_softmax(scores: Variable, padding: Variable, future: Variable) -> Variable:
    """scores: (batch, heads, queries, keys); padding: (batch, keys), future: (queries, keys), added to all scores."""
    batch, keys = padding.shape
    return softmax(scores * SCALE + padding.reshape((batch, 1, 1, keys)) + future)


def fused_softmax(library: Library, arrays: Sequence[Any], seed: Any) -> dict[str, Any]:
    output = library.softmax(arrays[0])
    return {"result": output, "d 0": library.softmax_backward(output, seed)}


def fused_layernorm(library: Library, arrays: Sequence[Any], seed: Any) -> dict[str, Any]:
    x, weight, bias = arrays
    output, mean, rstd = library.layernorm(x, weight, bias, EPS)
    sums = {"d_weight": np.zeros_like(weight), "d_bias": np.zeros_like(bias), "beta": 0.0}
    gradients = library.layernorm_backward(x, weight, mean, rstd, seed, **sums)
    return {"result": output, **{f"d {number}": array for number, array in enumerate(gradients)}}


def fused_attention(library: Library, arrays: Sequence[Any], seed: Any) -> dict[str, Any]:
    q, k, v, _ = arrays
    output, lse = library.attention_forward(q, k, v, kv_len=q.shape[1], scale=SCALE)
    gradients = library.attention_backward(q, k, v, output, lse, seed, SCALE)
    return {"result": output, **{f"d {number}": array for number, array in enumerate(gradients)}}


def fused_masked_softmax(library: Library, arrays: Sequence[Any], seed: Any) -> dict[str, Any]:
    scores, padding, _ = arrays
    masks = {"has_mask": 1, "causal": 1, "offset": scores.shape[3] - scores.shape[2]}
    weights = library.attention_softmax(scores.copy(), padding, SCALE, **masks)  # in place
    return {"result": weights, "d 0": library.attention_softmax_backward(weights, seed.copy(), SCALE)}


def _future(queries: int, keys: int) -> Any:
    return np.triu(np.full((queries, keys), MASKED, np.float32), 1 + keys - queries)


def _padding(batch: int, keys: int) -> Any:
    """Of every sequence but the first the second half is padding."""
    is_padded = (np.arange(batch)[:, None] > 0) & (np.arange(keys) * 2 > keys)
    return np.where(is_padded, np.float32(MASKED), np.float32(0))


@dataclass(frozen=True)
class Fused:
    """composed: on the tape.  compute: the same and its gradients by a library's own operations.

    shapes: of what is drawn, by size.  masks: of which there is no gradient, by size.
    """

    composed: Expression
    compute: Callable[[Library, Sequence[Any], Any], dict[str, Any]]
    shapes: Callable[..., list[Size]]
    sizes: Sequence[Size]
    masks: Callable[..., list[Any]] = lambda *size: []


_ROWS = ((3, 33), (1, 1), (5, 257), (4, 1025))
FUSED = {
    "softmax": Fused(softmax, fused_softmax, lambda rows, columns: [(rows, columns)], _ROWS),
    "layernorm": Fused(layernorm, fused_layernorm, lambda rows, n: [(rows, n), (n,), (n,)], _ROWS),
    "attention": Fused(
        attention,
        fused_attention,
        lambda batch, seq, heads, groups, dim: [(batch, seq, heads, dim), *[(batch, seq, groups, dim)] * 2],
        ((2, 9, 4, 2, 8), (1, 1, 1, 1, 1), (1, 65, 2, 1, 16)),
        lambda batch, seq, heads, groups, dim: [_future(seq, seq)],
    ),
    "attention softmax": Fused(
        masked_softmax,
        fused_masked_softmax,
        lambda batch, heads, queries, keys: [(batch, heads, queries, keys)],
        ((2, 3, 5, 9), (1, 1, 1, 1), (3, 2, 33, 65), (2, 1, 3, 1025)),
        lambda batch, heads, queries, keys: [_padding(batch, keys), _future(queries, keys)],
    ),
}
CASES = [(name, size) for name, fused in FUSED.items() for size in fused.sizes]


def drawn(name: str, size: Size) -> tuple[list[Any], Any]:
    """Arguments, and the gradient of the result, which has the first one's shape."""
    rng = np.random.default_rng(size[1])
    arrays = [rng.normal(size=shape).astype(np.float32) for shape in FUSED[name].shapes(*size)]
    seed = rng.normal(size=arrays[0].shape).astype(np.float32)
    return [*arrays, *FUSED[name].masks(*size)], seed


def without_masks(name: str, size: Size, found: dict[str, Any]) -> dict[str, Any]:
    """What both forms give: not the gradients of masks, which the fused one has not."""
    masks = {f"d {number}" for number, _ in enumerate(FUSED[name].masks(*size), len(FUSED[name].shapes(*size)))}
    return {key: value for key, value in found.items() if key not in masks}


def noise_of(name: str, size: Size, arrays: Sequence[Any], seed: Any) -> dict[str, Any]:
    return without_masks(name, size, expected(FUSED[name].composed, arrays, seed, FLOAT32))


@pytest.mark.parametrize(("name", "size"), CASES, ids=str)
def test_both_forms_are_within_the_noise_of_the_composed_one(name: str, size: Size, stub: Library) -> None:
    arrays, seed = drawn(name, size)
    noise = noise_of(name, size, arrays, seed)
    composed = without_masks(name, size, results(FUSED[name].composed, arrays, seed, on(stub, np.float32)))
    for got in (FUSED[name].compute(stub, arrays, seed), composed):
        found = shares(noise, got, both_err=False)
        assert max(found.values()) <= 1, found


@pytest.mark.parametrize("name", FUSED)
def test_so_are_the_kernels(name: str, emulated_path: Path) -> None:
    size = FUSED[name].sizes[0]
    arrays, seed = drawn(name, size)
    got = FUSED[name].compute(Library(emulated_path), arrays, seed)
    found = shares(noise_of(name, size, arrays, seed), got, both_err=False)
    assert max(found.values()) <= 1, found


@pytest.mark.parametrize("name", FUSED)
def test_a_wrong_gradient_is_told(name: str, stub: Library) -> None:
    size = FUSED[name].sizes[0]
    arrays, seed = drawn(name, size)
    got = FUSED[name].compute(stub, arrays, seed)
    got["d 0"] = got["d 0"] * np.float32(1 + 2.0**-12)
    assert shares(noise_of(name, size, arrays, seed), got, both_err=False)["d 0"] > 1
