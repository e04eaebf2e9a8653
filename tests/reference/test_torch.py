"""The operations, forward and backward, against PyTorch in float64: written by nobody here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference as ops
from reference import random, special
from reference.ops import dropout
from tests.reference.bounds import assert_agree
from tests.reference.oracle import check, draw, oracle

torch = pytest.importorskip("torch", reason="PyTorch, the independent library, is not installed")
F = torch.nn.functional

EPS, SCALE = 1e-6, 0.3
FREQS = ops.rope_freqs(16, 8, 10000.0, 8.0)
TARGETS = np.array([3, -1, 0, 10, 10, -5, 7])
INDICES = np.array([4, 1, 4, 0, 4, 1, 5, 5, 2])
OFFSETS = np.array([0, 4, 4, 9])
POSITION = random.permutation(7, 14).reshape(7, 2)


def test_elementwise() -> None:
    check(ops.silu, lambda d, x: ops.silu_backward(x, d), F.silu, (40,))
    check(ops.swiglu, lambda d, g, u: ops.swiglu_backward(g, u, d), lambda g, u: F.silu(g) * u, (40,), (40,))
    check(ops.add, None, torch.add, (40,), (40,))
    check(ops.mul, None, torch.mul, (40,), (40,))
    check(lambda x: ops.scale(x, SCALE), None, lambda x: x * SCALE, (40,))


@pytest.mark.parametrize(
    ("name", "numbers", "function"),
    [
        ("relu", (), F.relu),
        ("leaky_relu", (SCALE,), lambda x: F.leaky_relu(x, SCALE)),
        ("elu", (SCALE,), lambda x: F.elu(x, SCALE)),
        ("gelu", (), F.gelu),
        ("gelu_tanh", (), lambda x: F.gelu(x, approximate="tanh")),
    ],
)
def test_activations_whose_gradient_reads_their_input(name: str, numbers: tuple[float, ...], function: Any) -> None:
    forward, backward = getattr(ops, name), getattr(ops, f"{name}_backward")
    check(lambda x: forward(x, *numbers), lambda d, x: backward(x, d, *numbers), function, (400,))


@pytest.mark.parametrize("name", ["sigmoid", "tanh"])
def test_activations_whose_gradient_reads_their_output(name: str) -> None:
    forward, backward = getattr(ops, name), getattr(ops, f"{name}_backward")
    check(forward, lambda d, x: backward(forward(x), d), getattr(torch, name), (400,))


@pytest.mark.parametrize("name", ["relu", "leaky_relu", "elu"])
def test_activations_where_their_branches_meet(name: str) -> None:
    """At zeros, infinities and NaN as PyTorch has them, except ELU's gradient at NaN, which it takes as above 0."""
    numbers = () if name == "relu" else (SCALE,)
    x, d = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324]), np.arange(1.0, 7.0)
    (output,), (gradient,) = oracle(lambda x: getattr(F, name)(x, *numbers), [x], d)
    np.testing.assert_array_equal(getattr(ops, name)(x, *numbers), output)
    if name == "elu":
        gradient[np.isnan(x)] = np.nan
    np.testing.assert_array_equal(getattr(ops, f"{name}_backward")(x, d, *numbers), gradient)


def test_broadcast() -> None:
    check(ops.add_row, lambda d, x, r: (d, ops.add_row_backward(d, None, 0.0)), torch.add, (5, 33), (33,))
    check(
        ops.add_column,
        lambda d, x, c: (d, ops.add_column_backward(d, None, 0.0)),
        lambda x, c: x + c[:, None],
        (5, 33),
        (5,),
    )


DENSE: list[Any] = [
    lambda x: x,
    F.relu,
    lambda x: F.leaky_relu(x, SCALE),
    lambda x: F.elu(x, SCALE),
    torch.sigmoid,
    torch.tanh,
    F.gelu,
    lambda x: F.gelu(x, approximate="tanh"),
]


@pytest.mark.parametrize("activation", range(len(DENSE)))
def test_dense(activation: int) -> None:
    def backward(d: Any, x: Any, w: Any, b: Any) -> Any:
        pre, _ = ops.dense(x, w, b, activation, SCALE, 1)
        return ops.dense_backward(x, w, pre, d, None, None, activation, SCALE, 0.0)[1:]

    check(
        lambda x, w, b: ops.dense(x, w, b, activation, SCALE, 1)[1],
        backward,
        lambda x, w, b: DENSE[activation](F.linear(x, w, b)),
        *((5, 33), (7, 33), (7,)),
    )
    check(
        lambda x, w: ops.dense(x, w, None, activation, SCALE, 0)[1],
        None,
        lambda x, w: DENSE[activation](F.linear(x, w)),
        *((5, 33), (7, 33)),
    )


def test_softmax_with_a_temperature() -> None:
    def backward(d: Any, x: Any) -> Any:
        return ops.softmax_temperature_backward(ops.softmax_temperature(x, SCALE), d, SCALE)

    check(lambda x: ops.softmax_temperature(x, SCALE), backward, lambda x: F.softmax(x / SCALE, -1), (5, 33))


def test_the_error_function() -> None:
    x = np.concatenate([np.linspace(-7.0, 7.0, 2001), np.linspace(7.0, 28.0, 500), [np.inf, -np.inf, np.nan]])
    for name in ("erf", "erfc"):
        expected = getattr(torch.special, name)(torch.tensor(x)).numpy()
        assert_agree(getattr(special, name)(x), expected, [x], name)


def test_softmax() -> None:
    check(ops.softmax, lambda d, x: ops.softmax_backward(ops.softmax(x), d), lambda x: F.softmax(x, -1), (5, 33))


@pytest.mark.parametrize("offset", [-2, 0, 3, 40])
def test_attention_softmax(offset: int) -> None:
    """By PyTorch's masked fill; the last sequence shows no key at all, of which PyTorch makes NaN."""
    mask = np.where(np.arange(17) < [[17], [5], [0]], draw((3, 17))[0], -np.inf)
    hidden = torch.ones(9, 17, dtype=torch.bool).triu(1 + offset)

    def forward(x: Any, has_mask: int = 1, causal: int = 1) -> Any:
        return ops.attention_softmax(x, mask, SCALE, has_mask, causal, offset)

    def peer(x: Any, has_mask: int = 1, causal: int = 1) -> Any:
        x = x * SCALE + torch.tensor(mask)[:, None, None] if has_mask else x * SCALE
        x = x.masked_fill(hidden, -torch.inf) if causal else x
        sees_none = x.isneginf().all(-1, keepdim=True)
        return F.softmax(x.masked_fill(sees_none, 0.0), -1).masked_fill(sees_none, 0.0)

    for masks in ((1, 1), (1, 0), (0, 1), (0, 0)):
        check(
            lambda x, masks=masks: forward(x, *masks),
            lambda d, x, masks=masks: ops.attention_softmax_backward(forward(x, *masks), d, SCALE),
            lambda x, masks=masks: peer(x, *masks),
            (3, 2, 9, 17),
        )


def test_softmax_topk() -> None:
    (x,) = draw((6, 17))
    weights, indices = ops.softmax_topk(x, 4)
    np.testing.assert_array_equal(indices, torch.tensor(x).softmax(-1).topk(4).indices)

    def chosen(x: Any) -> Any:
        top = x.softmax(-1).topk(4).values
        return top / top.sum(-1, keepdim=True)

    def backward(d: Any, x: Any) -> Any:
        return ops.softmax_topk_backward(weights, indices, d, x.shape[1])

    check(lambda x: ops.softmax_topk(x, 4)[0], backward, chosen, (6, 17))


def test_rmsnorm() -> None:
    def norm(x: Any, w: Any) -> Any:
        return F.rms_norm(x, w.shape, w, EPS)

    def residual(x: Any, r: Any, w: Any) -> Any:
        return norm(x + r, w), x + r

    def residual_backward(d: Any, d_s: Any, x: Any, r: Any, w: Any) -> Any:
        d_x, d_w = ops.rmsnorm_residual_backward(x + r, w, d, d_s, None, EPS, 0.0)
        return d_x, d_x, d_w

    check(
        lambda x, w: ops.rmsnorm(x, w, EPS),
        lambda d, x, w: ops.rmsnorm_backward(x, w, d, None, EPS, 0.0),
        norm,
        (5, 33),
        (33,),
    )
    check(lambda x, r, w: ops.rmsnorm_residual(x, r, w, EPS), residual_backward, residual, (5, 33), (5, 33), (33,))


def test_layernorm() -> None:
    def backward(d: Any, x: Any, w: Any, b: Any) -> Any:
        _, mean, rstd = ops.layernorm(x, w, b, EPS)
        return ops.layernorm_backward(x, w, mean, rstd, d, None, None, 0.0)

    check(
        lambda x, w, b: ops.layernorm(x, w, b, EPS)[0],
        backward,
        lambda x, w, b: F.layer_norm(x, w.shape, w, b, EPS),
        (5, 33),
        (33,),
        (33,),
    )
    x, w, b = draw((5, 33), (33,), (33,))
    expected = torch.native_layer_norm(torch.tensor(x), (33,), torch.tensor(w), torch.tensor(b), EPS)
    for got, stored in zip(ops.layernorm(x, w, b, EPS)[1:], expected[1:], strict=True):
        assert_agree(got, stored.flatten().numpy(), [x])


def test_batchnorm() -> None:
    shapes = (4, 3, 7), (3,), (3,)
    old_mean, old_var = draw((3,), (3,))
    old_var = old_var**2

    def backward(d: Any, x: Any, w: Any, b: Any) -> Any:
        _, mean, rstd, *_ = ops.batchnorm_training(x, w, b, old_mean, old_var, 0.1, EPS)
        return ops.batchnorm_backward(x, w, mean, rstd, d, None, None, 0.0)

    check(
        lambda x, w, b: ops.batchnorm_training(x, w, b, old_mean, old_var, 0.1, EPS)[0],
        backward,
        lambda x, w, b: F.batch_norm(x, None, None, w, b, True, 0.1, EPS),
        *shapes,
    )
    check(
        lambda x, w, b: ops.batchnorm_evaluation(x, w, b, old_mean, old_var, EPS),
        None,
        lambda x, w, b: F.batch_norm(x, torch.tensor(old_mean), torch.tensor(old_var), w, b, False, 0.1, EPS),
        *shapes,
    )
    x, w, b = draw(*shapes)
    running = torch.tensor(old_mean), torch.tensor(old_var)
    stored = torch.native_batch_norm(*map(torch.tensor, (x, w, b)), *running, True, 0.1, EPS)[1:]
    results = ops.batchnorm_training(x, w, b, old_mean, old_var, 0.1, EPS)[1:]
    for got, expected in zip(results, (*stored, *running), strict=True):
        assert_agree(got, expected.numpy(), [x, old_mean, old_var])


def test_dropout() -> None:
    """PyTorch draws another mask: of the same mask its scaling and its gradient are these."""
    philox, rate = np.array([7, 11], np.uint64), 0.25
    mask = torch.tensor(dropout.kept(philox, 40, rate))
    check(
        lambda x: ops.dropout(x, philox, rate),
        lambda d, x: ops.dropout_backward(d, philox, rate),
        lambda x: torch.ops.aten.native_dropout_backward(x, mask, 1 / (1 - rate)),
        (40,),
    )


def test_products() -> None:
    check(ops.router_gemm, None, F.linear, (7, 33), (5, 33))
    check(
        ops.gemm,
        lambda d, a, b: (ops.gemm_nn(d, b, None, 1.0, 0.0), ops.gemm_tn(d, a, None, 1.0, 0.0)),
        F.linear,
        (7, 33),
        (5, 33),
    )
    check(
        lambda a, b, c: ops.gemm_beta(a, b, c, 2.5, -0.5),
        None,
        lambda a, b, c: 2.5 * a @ b.T - 0.5 * c,
        (7, 9),
        (5, 9),
        (7, 5),
    )
    check(
        lambda a, b, c: ops.gemm_tt(a, b, c, 2.5, -0.5),
        None,
        lambda a, b, c: 2.5 * a.T @ b.T - 0.5 * c,
        (9, 7),
        (5, 9),
        (7, 5),
    )
    check(ops.batched_gemm, None, lambda a, b: torch.bmm(a, b.transpose(1, 2)), (3, 7, 9), (3, 5, 9))


def test_grouped_products() -> None:
    def grouped(a: Any, b: Any) -> Any:
        rows = [slice(OFFSETS[e], OFFSETS[e + 1]) for e in range(3)]
        return torch.cat([F.linear(a[own], b[e]) for e, own in enumerate(rows)])

    def backward(d: Any, a: Any, b: Any) -> Any:
        return ops.grouped_gemm_nn(d, b, OFFSETS), ops.grouped_gemm_tn(d, a, OFFSETS, None, 0.0)

    check(lambda a, b: ops.grouped_gemm(a, b, OFFSETS), backward, grouped, (9, 33), (3, 5, 33))


def test_gate_and_up() -> None:
    def gated(a: Any, gate: Any, up: Any) -> Any:
        return F.linear(a, gate), F.linear(a, up), F.silu(F.linear(a, gate)) * F.linear(a, up)

    def grouped(a: Any, gate: Any, up: Any) -> Any:
        rows = [slice(OFFSETS[e], OFFSETS[e + 1]) for e in range(3)]
        parts = [gated(a[own], gate[e], up[e]) for e, own in enumerate(rows)]
        return tuple(torch.cat(part) for part in zip(*parts, strict=True))

    check(ops.gemm_swiglu, None, gated, (9, 33), (5, 33), (5, 33))
    check(lambda *x: ops.grouped_gemm_swiglu(*x, OFFSETS), None, grouped, (9, 33), (3, 5, 33), (3, 5, 33))


def test_router() -> None:
    (logits,) = draw((6, 17))
    _, indices, *_ = ops.topk_router(logits, 4, SCALE)
    chosen = torch.tensor(logits).softmax(-1).topk(4).indices
    np.testing.assert_array_equal(indices, chosen)
    held = F.one_hot(chosen, 17).sum(1).double()

    def router(x: Any) -> Any:
        probs = x.softmax(-1)
        top, means = probs.topk(4).values, probs.mean(0)
        loss = (SCALE * 17 * (held.mean(0) * means).sum()).reshape(1)
        return top / top.sum(-1, keepdim=True), probs, loss, held.sum(0), means

    def numbers(x: Any) -> Any:
        weights, _, *others = ops.topk_router(x, 4, SCALE)
        return weights, *others

    check(numbers, None, router, (6, 17))


def test_rope() -> None:
    turn = torch.polar(torch.ones(5, 1, 4, dtype=torch.float64), torch.tensor(FREQS[3:8, None]))

    def rotated(x: Any) -> Any:
        return torch.view_as_real(torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2)) * turn).flatten(-2)

    shape, keys = (2, 5, 4, 8), (2, 5, 1, 8)
    check(lambda x: ops.rope_forward(x, FREQS, 3), lambda d, x: ops.rope_backward(d, FREQS, 3), rotated, shape)
    check(
        lambda q, k: ops.rope_qk(q, k, FREQS, 3),
        lambda d_q, d_k, q, k: ops.rope_qk_backward(d_q, d_k, FREQS, 3),
        lambda q, k: (rotated(q), rotated(k)),
        shape,
        keys,
    )
    base = 10000.0 * 8.0 ** (8 / 6)
    inverse = base ** (-torch.arange(0, 8, 2, dtype=torch.float64) / 8)
    assert_agree(FREQS, torch.outer(torch.arange(16, dtype=torch.float64), inverse).numpy(), [FREQS])


@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_attention(kv_heads: int) -> None:
    def attend(q: Any, k: Any, v: Any) -> Any:
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=SCALE, enable_gqa=True).transpose(1, 2)

    def backward(d: Any, q: Any, k: Any, v: Any) -> Any:
        return ops.attention_backward(q, k, v, *ops.attention_forward(q, k, v, 9, SCALE), d, SCALE)

    shapes = (2, 9, 4, 8), (2, 9, kv_heads, 8), (2, 9, kv_heads, 8)
    check(lambda q, k, v: ops.flash_attention(q, k, v, SCALE), backward, attend, *shapes)
    check(lambda q, k, v: ops.attention_forward(q, k, v, 9, SCALE)[0], None, attend, *shapes)


def test_attention_of_one_kv_head_in_two_steps() -> None:
    def scores(q: Any, k: Any) -> Any:
        hidden = torch.ones(9, 9, dtype=torch.bool).triu(1)
        return (torch.einsum("bihd,bjd->bhij", q, k) * SCALE).masked_fill(hidden, -torch.inf)

    check(lambda q, k: ops.attention_scores(q, k, SCALE), None, scores, (2, 9, 4, 8), (2, 9, 8))
    check(ops.attention_output, None, lambda w, v: torch.einsum("bhij,bjd->bihd", w, v), (2, 4, 9, 9), (2, 9, 8))


def test_log_sum_exp_of_the_last_queries() -> None:
    q, k, v = draw((2, 3, 4, 8), (2, 11, 2, 8), (2, 11, 2, 8))
    keys = torch.tensor(k[:, :9]).repeat_interleave(2, dim=2)
    scores = torch.einsum("bihd,bjhd->bhij", torch.tensor(q), keys) * SCALE
    scores = scores.masked_fill(torch.ones(3, 9, dtype=torch.bool).triu(7), -torch.inf)
    assert_agree(ops.attention_forward(q, k, v, 9, SCALE)[1], scores.logsumexp(-1).numpy(), [q, k, v])


def test_dispatch_and_combine() -> None:
    order = torch.tensor(np.argsort(POSITION.ravel()))
    place = torch.tensor(POSITION)
    check(
        lambda x: ops.expert_dispatch(x, POSITION),
        lambda d, x: ops.expert_dispatch_backward(d, POSITION),
        lambda x: x.repeat_interleave(2, dim=0)[order],
        (7, 5),
    )
    check(
        lambda x, w: ops.expert_combine(x, w, POSITION),
        lambda d, x, w: ops.expert_combine_backward(x, w, POSITION, d),
        lambda x, w: (w[..., None] * x[place]).sum(1),
        (14, 5),
        (7, 2),
    )


def test_auxiliary_loss() -> None:
    experts = np.array([[0, 3], [3, 1], [4, 0], [3, 4], [1, 3]])
    f_counts = ops.aux_loss_forward(np.ones((5, 6)), experts, SCALE)[1]

    def loss(probabilities: Any) -> Any:
        held = F.one_hot(torch.tensor(experts), 6).sum(1).double()
        return (SCALE * 6 * (held.mean(0) * probabilities.mean(0)).sum()).reshape(1)

    def backward(d: Any, probabilities: Any) -> Any:
        return ops.aux_loss_backward(f_counts, 5, SCALE, d[0])

    check(lambda p: ops.aux_loss_forward(p, experts, SCALE)[0], backward, loss, (5, 6))


def test_cross_entropy() -> None:
    targets = torch.tensor(np.maximum(TARGETS, -1))

    def backward(d: Any, logits: Any) -> Any:
        log_probs = ops.cross_entropy_forward(logits, TARGETS)[1]
        return ops.cross_entropy_backward(log_probs, TARGETS, d[0] / np.count_nonzero(TARGETS >= 0))

    check(
        lambda x: ops.cross_entropy_forward(x, TARGETS)[0],
        backward,
        lambda x: F.cross_entropy(x, targets, ignore_index=-1).reshape(1),
        (7, 33),
    )
    check(lambda x: ops.cross_entropy_forward(x, TARGETS)[1], None, lambda x: F.log_softmax(x, -1), (7, 33))


def test_cross_entropy_and_its_gradient_at_once() -> None:
    targets = torch.tensor(np.maximum(TARGETS, -1))
    counted = np.count_nonzero(TARGETS >= 0)
    check(
        lambda x: ops.fused_cross_entropy(x, TARGETS, 1.0)[1],
        lambda d, x: ops.fused_cross_entropy(x, TARGETS, d[0] / counted)[0],
        lambda x: F.cross_entropy(x, targets, ignore_index=-1).reshape(1),
        (7, 33),
    )
    check(lambda x: ops.fused_cross_entropy(x, TARGETS, 1.0)[2], None, lambda x: x.logsumexp(-1), (7, 33))


def test_squared_error() -> None:
    (target,) = draw((40,))
    check(
        lambda x: ops.mse_forward(x, target),
        lambda d, x: ops.mse_backward(x, target, d[0]),
        lambda x: F.mse_loss(x, torch.tensor(target)).reshape(1),
        (40,),
    )


def test_binary_cross_entropy() -> None:
    target = random.uniform(3, (40,))
    target[:2] = 0.0, 1.0

    def inside(x: Any) -> Any:
        return 1.0 / (1.0 + np.exp(-x))

    def backward(d: Any, x: Any) -> Any:
        p = inside(x)
        return ops.bce_backward(p, target, d[0]) * p * (1.0 - p)

    check(
        lambda x: ops.bce_forward(inside(x), target),
        backward,
        lambda x: F.binary_cross_entropy(x.sigmoid(), torch.tensor(target)).reshape(1),
        (40,),
    )
    check(
        lambda x: ops.bce_logits_forward(x, target),
        lambda d, x: ops.bce_logits_backward(x, target, d[0]),
        lambda x: F.binary_cross_entropy_with_logits(x, torch.tensor(target)).reshape(1),
        (40,),
    )


def test_binary_cross_entropy_at_its_bounds() -> None:
    """At 0 and 1, and next to them, where logarithms and divisors are bounded."""
    edges = np.array([0.0, 1.0, 2.0**-1074, 1e-44, 4e-44, 1e-13, 1.0 - 2.0**-53])
    p, target = (part.reshape(-1) for part in np.meshgrid(edges, np.array([0.0, 1.0, 0.25])))
    leaf = torch.tensor(p, requires_grad=True)
    loss = F.binary_cross_entropy(leaf, torch.tensor(target)).reshape(1)
    assert_agree(ops.bce_forward(p, target), loss.detach().numpy(), [p, target])
    (expected,) = torch.autograd.grad(loss, leaf, torch.ones(1, dtype=torch.float64))
    got = ops.bce_backward(p, target, 1.0)
    # PyTorch's divisor is bounded by 1e-12, the header's by the float32 next to it, which is within half a unit of it.
    np.testing.assert_allclose(got, expected.numpy(), rtol=2.0**-24, atol=0.0)


@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_cross_entropy_with_dense_labels(temperature: float) -> None:
    labels = random.uniform(4, (7, 33))

    def backward(d: Any, x: Any) -> Any:
        log_probs = ops.cross_entropy_dense_forward(x, labels, temperature)[1]
        return ops.cross_entropy_dense_backward(log_probs, labels, temperature, d[0])

    check(
        lambda x: ops.cross_entropy_dense_forward(x, labels, temperature)[0],
        backward,
        lambda x: F.cross_entropy(x / temperature, torch.tensor(labels)).reshape(1),
        (7, 33),
    )
    check(
        lambda x: ops.cross_entropy_dense_forward(x, labels, temperature)[1],
        None,
        lambda x: F.log_softmax(x / temperature, -1),
        (7, 33),
    )


def test_categorical_cross_entropy() -> None:
    labels = random.uniform(5, (7, 33))

    def backward(d: Any, x: Any) -> Any:
        return ops.categorical_cross_entropy_backward(np.exp(x), labels, d[0]) * np.exp(x)

    check(
        lambda x: ops.categorical_cross_entropy_forward(np.exp(x), labels),
        backward,
        lambda x: -(torch.tensor(labels) * x.exp().log().clamp(min=-100.0)).sum(1).mean().reshape(1),
        (7, 33),
    )


# Strides, pads, dilations by row and column, and groups.
@pytest.mark.parametrize(
    "steps",
    [
        (1, 1, 0, 0, 1, 1, 1),
        (1, 1, 1, 1, 1, 1, 1),
        (2, 3, 1, 2, 2, 1, 2),
        (1, 2, 5, 0, 1, 3, 4),
        (3, 1, 4, 4, 1, 1, 4),
        (2, 2, 0, 1, 1, 1, 2),
    ],
)
@pytest.mark.parametrize("kernel", [(3, 3), (1, 1), (2, 4), (4, 1)])
def test_convolution(steps: tuple[int, ...], kernel: tuple[int, int]) -> None:
    stride, pad, dilation, groups = steps[:2], steps[2:4], steps[4:6], steps[6]

    def backward(d: Any, x: Any, w: Any, b: Any) -> Any:
        d_x = ops.conv2d_backward_input(w, d, 4, 9, 11, *steps)
        return d_x, ops.conv2d_backward_weight(x, d, None, *kernel, *steps, 0.0), ops.conv2d_backward_bias(d, None, 0.0)

    check(
        lambda x, w, b: ops.conv2d(x, w, b, *steps, 1),
        backward,
        lambda x, w, b: F.conv2d(x, w, b, stride, pad, dilation, groups),
        (2, 4, 9, 11),
        (8, 4 // groups, *kernel),
        (8,),
    )
    check(
        lambda x, w: ops.conv2d(x, w, None, *steps, 0),
        None,
        lambda x, w: F.conv2d(x, w, None, stride, pad, dilation, groups),
        (2, 4, 9, 11),
        (8, 4 // groups, *kernel),
    )


def test_embedding() -> None:
    check(
        lambda w: ops.embedding(w, INDICES),
        lambda d, w: ops.scatter_add(d, INDICES, np.zeros_like(w)),
        lambda w: F.embedding(torch.tensor(INDICES), w),
        (6, 5),
    )


@pytest.mark.parametrize(
    "window", [(3, 3, 2, 2, 1, 1), (2, 2, 2, 2, 0, 0), (3, 2, 1, 3, 1, 0), (5, 4, 7, 1, 2, 2), (9, 8, 1, 1, 0, 0)]
)
def test_pooling(window: tuple[int, ...]) -> None:
    sides = [window[i : i + 2] for i in (0, 2, 4)]  # kernel, stride, padding

    def max_backward(d: Any, x: Any) -> Any:
        return ops.max_pool2d_backward(d, ops.max_pool2d(x, *window)[1], *x.shape[2:], *window)

    shape = (2, 3, 9, 8)
    check(lambda x: ops.max_pool2d(x, *window)[0], max_backward, lambda x: F.max_pool2d(x, *sides), shape)
    for counted in (0, 1):
        check(
            lambda x, counted=counted: ops.avg_pool2d(x, *window, counted),
            lambda d, x, counted=counted: ops.avg_pool2d_backward(d, *x.shape[2:], *window, counted),
            lambda x, counted=counted: F.avg_pool2d(x, *sides, count_include_pad=bool(counted)),
            shape,
        )


def test_places_of_the_largest() -> None:
    (x,) = draw((2, 3, 9, 8))
    ties = np.round(x)
    ties[0, 0, 4, 4] = np.nan  # of several PyTorch takes the last
    ties[0, 1], ties[0, 2] = -np.inf, 0.0
    for planes in (x, ties):
        expected = F.max_pool2d(torch.tensor(planes), 3, 2, 1, return_indices=True)
        for got, due in zip(ops.max_pool2d(planes, 3, 3, 2, 2, 1, 1), expected, strict=True):
            np.testing.assert_array_equal(got, due)


def test_steps_of_sequences() -> None:
    check(
        lambda x: ops.slice_steps(x, 2, 5),
        lambda d, x: ops.slice_steps_backward(d, 9, 2),
        lambda x: x[:, 2:7],
        (3, 9, 4),
    )
    check(
        ops.concat_steps,
        lambda d, a, b: ops.concat_steps_backward(d, 2, 5),
        lambda a, b: torch.cat([a, b], 1),
        (3, 2, 4),
        (3, 5, 4),
    )


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_sgd(decay: float) -> None:
    param, *grads = draw((17,), (17,), (17,))
    weight = torch.nn.Parameter(torch.tensor(param))
    optimizer = torch.optim.SGD([weight], lr=0.01, weight_decay=decay)
    for step, grad in enumerate(grads, start=1):
        weight.grad = torch.tensor(grad)
        optimizer.step()
        param = ops.sgd_step(param, grad, 0.01, decay)
        assert_agree(param, weight.detach().numpy(), [param, grad, *grads[:step]], f"update {step}")


@pytest.mark.parametrize("nesterov", [0, 1])
@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_momentum(nesterov: int, decay: float) -> None:
    lr, momentum = 0.01, 0.9
    param, *grads = draw((17,), (17,), (17,), (17,), (17,))
    weight = torch.nn.Parameter(torch.tensor(param))
    settings = {"momentum": momentum, "weight_decay": decay, "nesterov": bool(nesterov)}
    optimizer = torch.optim.SGD([weight], lr=lr, **settings)
    velocity = np.zeros(17)
    for step, grad in enumerate(grads, start=1):
        weight.grad = torch.tensor(grad)
        optimizer.step()
        param, velocity = ops.momentum_step(param, grad, velocity, lr, momentum, decay, nesterov)
        held = optimizer.state[weight]["momentum_buffer"]
        for got, expected in ((param, weight.detach()), (velocity, held)):
            assert_agree(got, expected.numpy(), [param, grad, *grads[:step]], f"update {step}")


@pytest.mark.parametrize(("operation", "peer"), [(ops.adamw_step, "AdamW"), (ops.adam_step, "Adam")])
@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_adam(operation: Any, peer: str, decay: float) -> None:
    lr, beta1, beta2, eps = 0.01, 0.9, 0.95, 1e-8
    param, *grads = draw((17,), (17,), (17,), (17,), (17,))
    weight = torch.nn.Parameter(torch.tensor(param))
    optimizer = getattr(torch.optim, peer)([weight], lr=lr, betas=(beta1, beta2), eps=eps, weight_decay=decay)
    m, v = np.zeros(17), np.zeros(17)
    for step, grad in enumerate(grads, start=1):
        weight.grad = torch.tensor(grad)
        optimizer.step()
        param, m, v = operation(param, grad, m, v, lr, beta1, beta2, eps, decay, step)
        state = optimizer.state[weight]
        for got, expected in ((param, weight.detach()), (m, state["exp_avg"]), (v, state["exp_avg_sq"])):
            assert_agree(got, expected.numpy(), [param, grad, *grads[:step]], f"update {step}")


@pytest.mark.parametrize("clip_norm", [0.5, 100.0])
def test_clipping_by_one_norm(clip_norm: float) -> None:
    arrays = draw((7, 3), (5,), (2, 2))
    leaves = [torch.nn.Parameter(torch.zeros(a.shape, dtype=torch.float64)) for a in arrays]
    for leaf, array in zip(leaves, arrays, strict=True):
        leaf.grad = torch.tensor(array)
    norm = torch.nn.utils.get_total_norm([leaf.grad for leaf in leaves])
    total_norm, scale = ops.clip_scale(ops.multi_sum_squares(arrays), clip_norm)
    assert_agree(total_norm[0], norm.numpy(), arrays)
    sum_squares, nonfinite = ops.multi_sum_squares_nonfinite(arrays)
    assert_agree(sum_squares[0], norm.square().numpy(), arrays)
    assert nonfinite == sum(int((~leaf.grad.isfinite()).sum()) for leaf in leaves)
    # PyTorch divides by norm + 1e-6, so only its unclipped case and its norm can be compared with.
    expected = [a * min(1.0, clip_norm / norm.item()) for a in arrays]
    for got, array in zip(ops.multi_scale(arrays, scale), expected, strict=True):
        assert_agree(got, array, arrays)


def _module(kind: str, weights: tuple[Any, ...], biases: tuple[Any, ...], **options: Any) -> Any:
    """A layer of PyTorch as a function of its weights."""
    layer = getattr(torch.nn, kind)(
        weights[0].shape[1], weights[1].shape[1], batch_first=True, bias=bool(biases), dtype=torch.float64, **options
    )
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    given = dict(zip(names, (*weights, *biases), strict=False))
    return lambda *args: torch.func.functional_call(layer, given, args)


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("given", [0, 1])
def test_rnn(activation: str, given: int) -> None:
    number = {"relu": 1, "tanh": 5}[activation]

    def forward(x: Any, w_x: Any, w_h: Any, b: Any, h0: Any = None) -> Any:
        return ops.rnn_forward(x, w_x, w_h, b, h0, number, 1, given)

    def backward(d: Any, x: Any, w_x: Any, w_h: Any, b: Any, h0: Any = None) -> Any:
        output, old = forward(x, w_x, w_h, b, h0), (None, None, None)
        results = ops.rnn_backward(x, w_x, w_h, h0, output, d, *old, number, given, 0.0)
        return results if given else results[:-1]

    def module(x: Any, w_x: Any, w_h: Any, b: Any, h0: Any = None) -> Any:
        states = (h0[None],) if given else ()
        return _module("RNN", (w_x, w_h), (b, torch.zeros_like(b)), nonlinearity=activation)(x, *states)[0]

    check(forward, backward, module, *((3, 6, 5), (4, 5), (4, 4), (4,), (3, 4))[: 4 + given])


@pytest.mark.parametrize("given", [0, 1])
def test_lstm(given: int) -> None:
    def forward(x: Any, w_x: Any, w_h: Any, b: Any, h0: Any = None, c0: Any = None) -> Any:
        return ops.lstm_forward(x, w_x, w_h, b, h0, c0, 1, given)

    def backward(d: Any, x: Any, w_x: Any, w_h: Any, b: Any, h0: Any = None, c0: Any = None) -> Any:
        states = (h0, c0, *forward(x, w_x, w_h, b, h0, c0))
        results = ops.lstm_backward(x, w_x, w_h, *states, d, None, None, None, given, 0.0)
        return results if given else results[:-2]

    def module(x: Any, w_x: Any, w_h: Any, b: Any, h0: Any = None, c0: Any = None) -> Any:
        states = ((h0[None], c0[None]),) if given else ()
        return _module("LSTM", (w_x, w_h), (b, torch.zeros_like(b)))(x, *states)[0]

    shapes = ((3, 6, 5), (16, 5), (16, 4), (16,), (3, 4), (3, 4))
    check(lambda *x: forward(*x)[0], backward, module, *shapes[: 4 + 2 * given])
    x, w_x, w_h, b, h0, c0 = draw(*shapes)
    layer = _module("LSTM", tuple(map(torch.tensor, (w_x, w_h))), (torch.tensor(b), torch.zeros(16).double()))
    last = layer(torch.tensor(x), (torch.tensor(h0)[None], torch.tensor(c0)[None]))[1][1][0]
    assert_agree(ops.lstm_forward(x, w_x, w_h, b, h0, c0, 1, 1)[1][:, -1], last.numpy(), [x, w_x, w_h, b, h0, c0])


@pytest.mark.parametrize("given", [0, 1])
def test_gru(given: int) -> None:
    def forward(x: Any, w_x: Any, w_h: Any, b_x: Any, b_h: Any, h0: Any = None) -> Any:
        return ops.gru_forward(x, w_x, w_h, b_x, b_h, h0, 1, given)

    def backward(d: Any, x: Any, w_x: Any, w_h: Any, b_x: Any, b_h: Any, h0: Any = None) -> Any:
        states, old = (h0, *forward(x, w_x, w_h, b_x, b_h, h0)), (None, None, None, None)
        results = ops.gru_backward(x, w_x, w_h, *states, d, *old, given, 0.0)
        return results if given else results[:-1]

    def module(x: Any, w_x: Any, w_h: Any, b_x: Any, b_h: Any, h0: Any = None) -> Any:
        states = (h0[None],) if given else ()
        return _module("GRU", (w_x, w_h), (b_x, b_h))(x, *states)[0]

    check(
        lambda *x: forward(*x)[0], backward, module, *((3, 6, 5), (12, 5), (12, 4), (12,), (12,), (3, 4))[: 5 + given]
    )


def test_argmax() -> None:
    (logits,) = draw((5, 33))
    logits[3] = np.nan
    np.testing.assert_array_equal(ops.argmax(logits), torch.tensor(logits).argmax(-1))


# The functions of assayer.h, by their numbers, in PyTorch.
_MAPS = (
    torch.clone,
    torch.neg,
    torch.abs,
    torch.sign,
    torch.floor,
    torch.ceil,
    torch.round,
    torch.square,
    torch.reciprocal,
    torch.sqrt,
    torch.rsqrt,
    torch.exp,
    torch.log,
    torch.sin,
    torch.cos,
    torch.tanh,
    torch.sigmoid,
    F.silu,
    lambda x: F.softplus(x, threshold=1e3),
    torch.erf,
    F.relu,
    F.gelu,
    lambda x: F.gelu(x, approximate="tanh"),
)
_ZIPS = (
    torch.add,
    torch.sub,
    torch.mul,
    torch.div,
    torch.pow,
    torch.maximum,
    torch.minimum,
    lambda a, b: torch.lt(a, b).double(),
    lambda a, b: torch.le(a, b).double(),
    lambda a, b: torch.eq(a, b).double(),
    lambda a, b: torch.ne(a, b).double(),
)
# Gradients: what autograd makes of a forward at x, and what of it the function is given.
_BACKWARDS = (
    (11, F.relu, lambda x: x),
    (12, torch.sigmoid, torch.sigmoid),
    (13, torch.tanh, torch.tanh),
    (14, torch.sqrt, torch.sqrt),
    (15, F.gelu, lambda x: x),
)
_REDUCTIONS = (torch.sum, torch.prod, torch.amax, torch.amin, torch.mean)
_SHAPE, _LIES, _TURNED = (3, 4, 5), (40, 10, 2), (1, 3, 12)


def _laid(storage: Any, strides: tuple[int, ...], offset: int, shape: tuple[int, ...] = _SHAPE) -> Any:
    return torch.as_strided(torch.tensor(storage), shape, strides, offset)


def _whole(*numbers: int) -> Any:
    return np.array(numbers, np.int64)


def _written(output: Any, strides: tuple[int, ...], offset: int, values: Any) -> Any:
    """The storage after PyTorch has written a tensor into it."""
    storage = torch.tensor(output)
    torch.as_strided(storage, values.shape, strides, offset).copy_(values)
    return storage.numpy()


@pytest.mark.parametrize("number", range(23))
def test_functions_of_strided_tensors(number: int) -> None:
    x, output = draw((60,), (130,))
    x = np.abs(x) + 0.1 if number in (8, 9, 10, 12) else x
    got = ops.map_strided(x, output, _whole(*_SHAPE), _whole(*_TURNED), _whole(*_LIES), 0, 3, number)
    assert_agree(got, _written(output, _LIES, 3, _MAPS[number](_laid(x, _TURNED, 0))), [x], "output")


@pytest.mark.parametrize("number", range(11))
def test_functions_of_two_strided_tensors(number: int) -> None:
    a, b, output = draw((60,), (8,), (130,))
    a, b = (np.round(a), np.round(b)) if number in (7, 8, 9, 10) else (np.abs(a), b)
    lies = (_whole(*_TURNED), _whole(0, 0, 1), _whole(*_LIES))
    got = ops.zip_strided(a, b, output, _whole(*_SHAPE), *lies, 0, 2, 3, number)
    due = _ZIPS[number](_laid(a, _TURNED, 0), _laid(b, (0, 0, 1), 2))
    assert_agree(got, _written(output, _LIES, 3, due), [a, b], "output")


@pytest.mark.parametrize(("number", "forward", "given"), _BACKWARDS)
def test_gradients_among_functions_of_two_tensors(number: int, forward: Any, given: Any) -> None:
    x, d = draw((60,), (60,))
    x = np.abs(x) + 0.1 if number == 14 else x
    _, (gradient,) = oracle(forward, [x], d)
    place, zeros = _whole(1), np.zeros(60)
    a = given(torch.tensor(x)).numpy()
    got = ops.zip_strided(a, d, zeros, _whole(60), place, place, place, 0, 0, 0, number)
    assert_agree(got, gradient.numpy(), [x, d], "gradient")


@pytest.mark.parametrize("kept", range(4))
@pytest.mark.parametrize("number", range(5))
def test_strided_tensors_joined_along_axes(number: int, kept: int) -> None:
    x, output = draw((60,), (130,))
    strides = _LIES[:kept]
    got = ops.reduce_strided(x, output, _whole(*_SHAPE), _whole(*_TURNED), _whole(*strides), 0, 3, number, 0.0 + number)
    laid = _laid(x, _TURNED, 0).reshape(*_SHAPE[:kept], -1)
    start = torch.full((*_SHAPE[:kept], 1), float(number), dtype=torch.float64)
    joined = _REDUCTIONS[number](torch.cat([laid, start], -1), -1)
    if number == 4:  # start is no number among those that the sum is divided by
        joined = joined * (laid.shape[-1] + 1) / laid.shape[-1]
    assert_agree(got, _written(output, strides, 3, joined), [x], "output")


def test_products_of_strided_matrices() -> None:
    """Two of 3 x 5 by 5 x 4, the second matrix of each turned."""
    a, b, output = draw((30,), (40,), (40,))
    shape, lies = _whole(2, 3, 4, 5), (_whole(15, 5, 0, 1), _whole(20, 0, 5, 1), _whole(20, 1, 3))
    got = ops.matmul_strided(a, b, output, shape, *lies, 0, 0, 2)
    due = torch.tensor(a).reshape(2, 3, 5) @ torch.tensor(b).reshape(2, 4, 5).mT
    assert_agree(got, _written(output, (20, 1, 3), 2, due), [a, b], "output")
