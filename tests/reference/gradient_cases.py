"""The table of gradients: which forward each backward operation belongs to, and at which shapes they are checked."""

from __future__ import annotations

from typing import Any

import numpy as np

import reference as ops
from tests.reference.differences import Case

EPS, SCALE, ALPHA, OFFSET, TOP_K = 0.01, 0.4, 0.3, 2, 2
OFFSETS = {6: np.array([0, 2, 2, 6]), 40: np.array([0, 0, 27, 40])}
FREQS = ops.rope_freqs(16, 6, 100.0, 4.0)
POSITION = {10: np.array([[3, 8], [0, 5], [9, 1], [2, 7], [6, 4]])}
TARGETS = np.array([2, -1, 6, 0, 0, -7, 5, 3, 1, 1, 4, 6])
INDICES = np.array([4, 1, 4, 0, 4, 1, 5, 5])
EXPERTS = np.array([[0, 3], [3, 1], [4, 0], [3, 4], [1, 3], [0, 1]])


def _rmsnorm_residual_backward(x: dict[str, Any], d_output: Any, d_residual_out: Any) -> dict[str, Any]:
    s = x["input"] + x["residual"]
    d, d_weight = ops.rmsnorm_residual_backward(s, x["weight"], d_output, d_residual_out, None, EPS, 0.0)
    return {"input": d, "residual": d, "weight": d_weight}


def _attention_backward(x: dict[str, Any], d_output: Any) -> dict[str, Any]:
    output, lse = ops.attention_forward(x["Q"], x["K"], x["V"], x["K"].shape[1], SCALE)
    d_Q, d_K, d_V = ops.attention_backward(x["Q"], x["K"], x["V"], output, lse, d_output, SCALE)
    return {"Q": d_Q, "K": d_K, "V": d_V}


def _attention(batch: int, length: int, heads: int, kv_heads: int, width: int) -> Case:
    shapes = {"Q": (batch, length, heads, width)} | dict.fromkeys("KV", (batch, length, kv_heads, width))
    return Case("attention_backward", shapes, lambda Q, K, V: ops.flash_attention(Q, K, V, SCALE), _attention_backward)


def _softmax_topk_backward(x: dict[str, Any], d_weights: Any) -> dict[str, Any]:
    weights, indices = ops.softmax_topk(x["input"], d_weights.shape[1])
    return {"input": ops.softmax_topk_backward(weights, indices, d_weights, x["input"].shape[1])}


def _aux_loss_backward(x: dict[str, Any], d_loss: Any) -> dict[str, Any]:
    _, f_counts, _ = ops.aux_loss_forward(x["router_probs"], EXPERTS, ALPHA)
    return {"router_probs": ops.aux_loss_backward(f_counts, len(EXPERTS), ALPHA, d_loss[0])}


def _cross_entropy_backward(x: dict[str, Any], d_loss: Any) -> dict[str, Any]:
    targets = TARGETS[: len(x["logits"])]
    _, log_probs = ops.cross_entropy_forward(x["logits"], targets)
    return {"logits": ops.cross_entropy_backward(log_probs, targets, d_loss[0] / np.count_nonzero(targets >= 0))}


def elementwise(n: int) -> list[Case]:
    return [
        Case("silu_backward", {"input": (n,)}, ops.silu, lambda x, d: {"input": ops.silu_backward(x["input"], d)}),
        Case(
            "swiglu_backward",
            {"gate": (n,), "up": (n,)},
            ops.swiglu,
            lambda x, d: dict(zip(("gate", "up"), ops.swiglu_backward(x["gate"], x["up"], d), strict=True)),
        ),
    ]


def _rows(rows: int, cols: int, k: int) -> list[Case]:
    return [
        Case(
            "softmax_backward",
            {"input": (rows, cols)},
            ops.softmax,
            lambda x, d: {"input": ops.softmax_backward(ops.softmax(x["input"]), d)},
        ),
        Case(
            "softmax_topk_backward",
            {"input": (rows, cols)},
            lambda input: ops.softmax_topk(input, k)[0],
            _softmax_topk_backward,
        ),
        Case(
            "rmsnorm_backward",
            {"input": (rows, cols), "weight": (cols,)},
            lambda input, weight: ops.rmsnorm(input, weight, EPS),
            lambda x, d: dict(zip(x, ops.rmsnorm_backward(x["input"], x["weight"], d, None, EPS, 0.0), strict=True)),
        ),
        Case(
            "rmsnorm_residual_backward",
            {"input": (rows, cols), "residual": (rows, cols), "weight": (cols,)},
            lambda input, residual, weight: ops.rmsnorm_residual(input, residual, weight, EPS),
            _rmsnorm_residual_backward,
        ),
    ]


def _products(m: int, n: int, k: int) -> list[Case]:
    nt = {"A": (m, k), "B": (n, k)}
    return [
        Case("gemm_nn", nt, ops.gemm, lambda x, d: {"A": ops.gemm_nn(d, x["B"], None, 1.0, 0.0)}),
        Case("gemm_tn", nt, ops.gemm, lambda x, d: {"B": ops.gemm_tn(d, x["A"], None, 1.0, 0.0)}),
        Case(
            "gemm_tt",
            {"A": (k, m), "B": (n, k)},
            lambda A, B: ops.gemm_tt(A, B, None, 0.5, 0.0),
            lambda x, d: {"A": ops.gemm_tt(x["B"], d, None, 0.5, 0.0)},
        ),
    ]


def _grouped(rows: int, n: int, k: int) -> list[Case]:
    offsets = OFFSETS[rows]
    shapes = {"A": (rows, k), "B": (3, n, k)}

    def forward(A: Any, B: Any) -> Any:
        return ops.grouped_gemm(A, B, offsets)

    def d_weight(x: dict[str, Any], d: Any) -> dict[str, Any]:
        return {"B": ops.grouped_gemm_tn(d, x["A"], offsets, None, 0.0)}

    return [
        Case("grouped_gemm_nn", shapes, forward, lambda x, d: {"A": ops.grouped_gemm_nn(d, x["B"], offsets)}),
        Case("grouped_gemm_tn", shapes, forward, d_weight),
    ]


def _rope_and_routing() -> list[Case]:
    position = POSITION[10]
    return [
        Case(
            "rope_backward",
            {"input": (2, 3, 2, 6)},
            lambda input: ops.rope_forward(input, FREQS, OFFSET),
            lambda x, d: {"input": ops.rope_backward(d, FREQS, OFFSET)},
        ),
        Case(
            "rope_qk_backward",
            {"q": (1, 3, 2, 6), "k": (1, 3, 1, 6)},
            lambda q, k: ops.rope_qk(q, k, FREQS, OFFSET),
            lambda x, d_q, d_k: dict(zip("qk", ops.rope_qk_backward(d_q, d_k, FREQS, OFFSET), strict=True)),
        ),
        Case(
            "expert_dispatch_backward",
            {"input": (5, 3)},
            lambda input: ops.expert_dispatch(input, position),
            lambda x, d: {"input": ops.expert_dispatch_backward(d, position)},
        ),
        Case(
            "expert_combine_backward",
            {"input": (10, 3), "weights": (5, 2)},
            lambda input, weights: ops.expert_combine(input, weights, position),
            lambda x, d: dict(
                zip(x, ops.expert_combine_backward(x["input"], x["weights"], position, d), strict=True),
            ),
        ),
        Case(
            "scatter_add",
            {"weight": (6, 3)},
            lambda weight: ops.embedding(weight, INDICES),
            lambda x, d: {"weight": ops.scatter_add(d, INDICES, np.zeros((6, 3)))},
        ),
    ]


def _losses(rows: int, cols: int) -> list[Case]:
    return [
        Case(
            "cross_entropy_backward",
            {"logits": (rows, cols)},
            lambda logits: ops.cross_entropy_forward(logits, TARGETS[: len(logits)])[0],
            _cross_entropy_backward,
        ),
        Case(
            "aux_loss_backward",
            {"router_probs": (6, 5)},
            lambda router_probs: ops.aux_loss_forward(router_probs, EXPERTS, ALPHA)[0],
            _aux_loss_backward,
        ),
    ]


def _convolution(batch: int, channels: int, filters: int, size: int, steps: tuple[int, ...]) -> list[Case]:
    """Planes of size x (size + 1), kernels of 2 x 3."""
    shapes = {"input": (batch, channels, size, size + 1), "weight": (filters, channels // steps[-1], 2, 3)}

    def forward(input: Any, weight: Any) -> Any:
        return ops.conv2d(input, weight, None, *steps, 0)

    def d_input(x: dict[str, Any], d: Any) -> dict[str, Any]:
        return {"input": ops.conv2d_backward_input(x["weight"], d, channels, size, size + 1, *steps)}

    def d_weight(x: dict[str, Any], d: Any) -> dict[str, Any]:
        return {"weight": ops.conv2d_backward_weight(x["input"], d, None, 2, 3, *steps, 0.0)}

    def with_bias(input: Any, weight: Any, bias: Any) -> Any:
        return ops.conv2d(input, weight, bias, *steps, 1)

    return [
        Case("conv2d_backward_input", shapes, forward, d_input),
        Case("conv2d_backward_weight", shapes, forward, d_weight),
        Case(
            "conv2d_backward_bias",
            shapes | {"bias": (filters,)},
            with_bias,
            lambda x, d: {"bias": ops.conv2d_backward_bias(d, None, 0.0)},
        ),
    ]


STEPS = (2, 1, 1, 2, 1, 2, 2)  # strides, pads, dilations by row and column, and groups
SMALL = [
    *elementwise(7),
    *_rows(3, 5, TOP_K),
    *_products(2, 3, 4),
    *_grouped(6, 3, 4),
    *_rope_and_routing(),
    *_losses(4, 7),
    *_convolution(2, 4, 2, 3, STEPS),
    _attention(1, 4, 2, 1, 3),
    _attention(2, 3, 4, 2, 2),
]
LARGE = [
    *elementwise(1025),
    *_rows(37, 129, 5),
    *_products(33, 17, 65),
    *_grouped(40, 9, 33),
    *_losses(12, 257),
    *_convolution(3, 6, 4, 9, STEPS),
    _attention(2, 19, 6, 3, 8),
    _attention(1, 33, 4, 4, 16),
]
