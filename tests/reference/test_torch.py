"""The operations, forward and backward, against PyTorch in float64: written by nobody here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference as ops
from reference import random
from tests.reference.bounds import assert_agree
from tests.reference.oracle import check, draw

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


def test_softmax() -> None:
    check(ops.softmax, lambda d, x: ops.softmax_backward(ops.softmax(x), d), lambda x: F.softmax(x, -1), (5, 33))


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


def test_products() -> None:
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


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_adamw(decay: float) -> None:
    lr, beta1, beta2, eps = 0.01, 0.9, 0.95, 1e-8
    param, *grads = draw((17,), (17,), (17,), (17,), (17,))
    weight = torch.nn.Parameter(torch.tensor(param))
    optimizer = torch.optim.AdamW([weight], lr=lr, betas=(beta1, beta2), eps=eps, weight_decay=decay)
    m, v = np.zeros(17), np.zeros(17)
    for step, grad in enumerate(grads, start=1):
        weight.grad = torch.tensor(grad)
        optimizer.step()
        param, m, v = ops.adamw_step(param, grad, m, v, lr, beta1, beta2, eps, decay, step)
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
    # PyTorch divides by norm + 1e-6, so only its unclipped case and its norm can be compared with.
    expected = [a * min(1.0, clip_norm / norm.item()) for a in arrays]
    for got, array in zip(ops.multi_scale(arrays, scale), expected, strict=True):
        assert_agree(got, array, arrays)


def test_argmax() -> None:
    (logits,) = draw((5, 33))
    logits[3] = np.nan
    np.testing.assert_array_equal(ops.argmax(logits), torch.tensor(logits).argmax(-1))
