"""Correct float32 operations that arrange the formula otherwise, as published kernels do.

Mathematically each is the header's formula; a judge that fails one of them would fail good libraries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import reference
from reference.ops import sixteen
from reference.ops.dropout import kept

from . import attention, decode
from .activations import ACTIVATIONS
from .attention import LOG2E
from .broadcast import BROADCAST

Array = Any


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def silu(input: Array) -> Array:
    return input / (1 + np.exp(-input))


def silu_backward(input: Array, d_output: Array) -> Array:
    s = _sigmoid(input)
    return d_output * (s + input * s * (1 - s))


def swiglu(gate: Array, up: Array) -> Array:
    return up * gate * _sigmoid(gate)


def swiglu_backward(gate: Array, up: Array, d_output: Array) -> tuple[Array, Array]:
    s = _sigmoid(gate)
    silu = gate * s
    return d_output * up * (s + silu * (1 - s)), d_output * silu


def softmax(input: Array) -> Array:
    """In base two, a running maximum and sum over blocks of 32 columns (Milakov and Gimelshein 2018)."""
    maximum = np.full_like(input[:, :1], -np.inf)
    total = np.zeros_like(maximum)
    for start in range(0, input.shape[1], 32):
        block = input[:, start : start + 32]
        higher = np.maximum(maximum, np.max(block, axis=1, keepdims=True))
        total = total * _exp2(maximum - higher) + np.sum(_exp2(block - higher), axis=1, keepdims=True)
        maximum = higher
    return _exp2(input - maximum) * (1 / total)


def _exp2(x: Array) -> Array:
    return np.where(np.isneginf(x), np.float32(0), np.exp2(x * LOG2E))


def softmax_backward(output: Array, d_output: Array) -> Array:
    return output * d_output - output * np.sum(output * d_output, axis=1, keepdims=True)


def softmax_topk(input: Array, k: int) -> tuple[Array, Array]:
    """A softmax over the k largest logits; a NaN in any column makes the whole row's weights NaN."""
    _, indices = reference.softmax_topk(input, k)
    weights = reference.softmax(np.take_along_axis(input, indices, axis=1))
    return np.where(np.isnan(input).any(axis=1, keepdims=True), np.float32(np.nan), weights), indices


def rmsnorm(input: Array, weight: Array, eps: float) -> Array:
    r = 1 / np.sqrt(np.sum(input * input, axis=1, keepdims=True) * np.float32(1 / input.shape[1]) + eps)
    return input * (r * weight)


def rmsnorm_backward(
    input: Array, weight: Array, d_output: Array, d_weight: Array, eps: float, beta: float
) -> tuple[Array, Array]:
    r = 1 / np.sqrt(np.mean(input * input, axis=1, keepdims=True) + eps)
    g = d_output * weight
    d_input = r * g - input * (r * r * r * np.sum(g * input, axis=1, keepdims=True) / input.shape[1])
    rows = d_output * (input * r)
    return d_input, np.add.accumulate(np.concatenate([beta * d_weight[None], rows]) if beta else rows, axis=0)[-1]


def _gemm(product: Callable[[Array, Array], tuple[Array, Array]]) -> Callable[..., Array]:
    """alpha goes into A, and C is where the sum begins."""

    def gemm(A: Array, B: Array, C: Array, alpha: float, beta: float) -> Array:
        left, right = product(A * alpha, B)
        terms = left.T[:, :, None] * right[:, None, :]
        start = np.zeros_like(terms[:1]) if beta == 0 else (beta * C)[None]
        return np.add.accumulate(np.concatenate([start, terms]), axis=0)[-1]

    return gemm


def rope_freqs(max_seq_len: int, head_dim: int, base: float, alpha: float) -> Array:
    """Every step in float32, the power as an exponential."""
    stretched = np.float32(base) * np.float32(alpha) ** np.float32(head_dim / (head_dim - 2))
    exponents = np.arange(head_dim // 2, dtype=np.float32) * np.float32(-2 / head_dim)
    return np.arange(max_seq_len, dtype=np.float32)[:, None] * np.exp(exponents * np.log(stretched))


def rmsnorm_residual(input: Array, residual: Array, weight: Array, eps: float) -> tuple[Array, Array]:
    return rmsnorm(input + residual, weight, eps), input + residual


def cross_entropy_forward(logits: Array, targets: Array) -> tuple[Array, Array]:
    """From the log-sum-exp itself."""
    maximum = np.max(logits, axis=1, keepdims=True)
    log_probs = logits - (maximum + np.log(np.sum(np.exp(logits - maximum), axis=1, keepdims=True)))
    (rows,) = np.nonzero(targets >= 0)
    loss = np.sum(log_probs[rows, targets[rows]], keepdims=True) * np.float32(-1 / max(len(rows), 1))
    return loss + np.float32(0), log_probs


def adamw_step(
    param: Array, grad: Array, m: Array, v: Array, lr: float, beta1: float, beta2: float, eps: float,
    weight_decay: float, step: int,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """As PyTorch writes it: decay first, moments by interpolation, corrections in the step size."""
    param = param * np.float32(1 - lr * weight_decay)
    m = m + np.float32(1 - beta1) * (grad - m) if beta1 > 0.5 else grad - (grad - m) * np.float32(beta1)
    v = v * np.float32(beta2) + np.float32(1 - beta2) * grad * grad
    denominator = np.sqrt(v) / np.float32((1 - beta2**step) ** 0.5) + np.float32(eps)
    return param - np.float32(lr / (1 - beta1**step)) * (m / denominator), m, v


def aux_loss_forward(router_probs: Array, expert_indices: Array, alpha: float) -> tuple[Array, Array, Array]:
    tokens, experts = router_probs.shape
    counts = np.zeros(experts, np.float32)
    for token in expert_indices:
        counts[np.unique(token)] += 1
    total = np.sum(router_probs, axis=0)
    factor = np.float32(alpha * experts / tokens**2)
    return np.sum(counts * total, keepdims=True) * factor, counts, total * np.float32(1 / tokens)


def grad_clip(grad: Array, clip_norm: float) -> tuple[Array, Array]:
    norm = np.sqrt(np.sum(grad * grad, keepdims=True).reshape(1))
    return (grad * clip_norm / norm if norm[0] > clip_norm else grad), norm


def scatter_add(grad_output: Array, indices: Array, grad_weight: Array) -> Array:
    """One row after the other, each added to what is there: atomics, in the order they happen to stand in."""
    total = np.array(grad_weight, np.float32)
    counted = indices >= 0
    np.add.at(total, indices[counted], grad_output[counted])
    return total


def layernorm(input: Array, weight: Array, bias: Array, eps: float) -> tuple[Array, Array, Array]:
    """Moments of blocks of 32 columns, joined one after the other (Chan, Golub and LeVeque 1979)."""
    mean, squares, count = np.zeros_like(input[:, :1]), np.zeros_like(input[:, :1]), 0
    for start in range(0, input.shape[1], 32):
        block = input[:, start : start + 32]
        of_block = np.mean(block, axis=1, keepdims=True)
        step, n = of_block - mean, block.shape[1]
        squares = squares + np.sum((block - of_block) ** 2, axis=1, keepdims=True)
        if count:
            squares = squares + step * step * np.float32(count * n / (count + n))
        count += n
        mean = mean + step * np.float32(n / count)
    rstd = 1 / np.sqrt(squares / np.float32(count) + np.float32(eps))
    return (input - mean) * (rstd * weight) + bias, mean[:, 0], rstd[:, 0]


def layernorm_backward(
    input: Array, weight: Array, mean: Array, rstd: Array, d_output: Array, d_weight: Array, d_bias: Array, beta: float
) -> tuple[Array, Array, Array]:
    """The deviation's term by the centred row, the gradients row after row."""
    centred, g, r = input - mean[:, None], d_output * weight, rstd[:, None]
    inner = np.sum(g * centred, axis=1, keepdims=True) * (r * r) / np.float32(input.shape[1])
    d_input = (g - np.mean(g, axis=1, keepdims=True) - centred * inner) * r
    rows = {"weight": (d_weight, d_output * r * centred), "bias": (d_bias, d_output)}
    added = (np.concatenate([beta * old[None], terms]) if beta else terms for old, terms in rows.values())
    new_weight, new_bias = (np.add.accumulate(terms, axis=0)[-1] for terms in added)
    return d_input, new_weight, new_bias


def batchnorm_training(
    input: Array, weight: Array, bias: Array, running_mean: Array, running_var: Array, momentum: float, eps: float
) -> tuple[Array, ...]:
    """Sums of samples first, and the running statistics by what is added to them."""
    count = np.float32(input.shape[0] * input.shape[2])
    mean = np.sum(np.sum(input, axis=2), axis=0) / count
    centred = input - mean[None, :, None]
    squares = np.sum(np.sum(centred * centred, axis=2), axis=0)
    rstd = 1 / np.sqrt(squares / count + np.float32(eps))
    output = centred * (rstd * weight)[None, :, None] + bias[None, :, None]
    kept_mean, kept_var = _moved(running_mean, mean, momentum), _moved(running_var, squares / (count - 1), momentum)
    return output, mean, rstd, kept_mean, kept_var


def _moved(old: Array, new: Array, momentum: float) -> Array:
    """By what is added to a number; one that is infinite stays so, as by the formula."""
    share = np.float32(momentum)
    return np.where(np.isfinite(old), old + share * (new - old), (1 - share) * old + share * new)


def batchnorm_evaluation(
    input: Array, weight: Array, bias: Array, running_mean: Array, running_var: Array, eps: float
) -> Array:
    """Not folded: centred, divided, scaled and shifted one after the other."""
    deviation = np.sqrt(running_var + np.float32(eps))
    return (input - running_mean[None, :, None]) / deviation[None, :, None] * weight[None, :, None] + bias[
        None, :, None
    ]


def batchnorm_backward(
    input: Array, weight: Array, mean: Array, rstd: Array, d_output: Array, d_weight: Array, d_bias: Array, beta: float
) -> tuple[Array, Array, Array]:
    """Sums of samples first, the deviation's term by the centred channel."""
    count = np.float32(input.shape[0] * input.shape[2])
    centred = input - mean[None, :, None]
    of_dy, inner = (np.sum(np.sum(x, axis=2), axis=0) for x in (d_output, d_output * centred))
    factor = (inner * rstd * rstd / count)[None, :, None]
    d_input = (d_output - (of_dy / count)[None, :, None] - centred * factor) * (rstd * weight)[None, :, None]
    sums = (inner * rstd, of_dy)
    new_weight, new_bias = (s + beta * old if beta else s for s, old in zip(sums, (d_weight, d_bias), strict=True))
    return d_input, new_weight, new_bias


def dropout(input: Array, philox: Array, rate: float) -> Array:
    """The scale is stored with the mask, once rounded."""
    scale = np.float32(1) / (np.float32(1) - np.float32(rate))
    return np.where(kept(philox, input.size, rate), input * scale, np.float32(0))


def dropout_backward(d_output: Array, philox: Array, rate: float) -> Array:
    return dropout(d_output, philox, rate)


_PLAIN: tuple[Callable[..., Any], ...] = (
    *(silu, silu_backward, swiglu, swiglu_backward, softmax, softmax_backward, softmax_topk),
    *(rmsnorm, rmsnorm_backward, rmsnorm_residual, rope_freqs),
    *(attention.attention_scores, attention.flash_attention, attention.attention_forward),
    *(attention.attention_softmax, attention.attention_softmax_backward),
    *(attention.attention_backward, cross_entropy_forward, adamw_step, aux_loss_forward, grad_clip, scatter_add),
    *(layernorm, layernorm_backward, batchnorm_training, batchnorm_evaluation, batchnorm_backward),
    *(dropout, dropout_backward),
    *(decode.sample, decode.topk_sample, decode.topp_sample),
    *ACTIVATIONS,
    *BROADCAST,
)
_FLOAT32: dict[str, Callable[..., Any]] = {function.__name__: function for function in _PLAIN} | {
    "gemm_beta": _gemm(lambda A, B: (A, B.T)),
    "gemm_nn": _gemm(lambda A, B: (A, B)),
    "gemm_tn": _gemm(lambda A, B: (A.T, B)),
    "gemm_tt": _gemm(lambda A, B: (A.T, B.T)),
}


def _in_16_bits() -> dict[str, Callable[..., Any]]:
    """The same computations, stored in 16 bits."""
    found = {}
    for suffix, dtype in sixteen.FORMATS.items():
        for operation, halves in sixteen.RESULTS.items():
            if (plain := operation.__name__) in _FLOAT32:
                name = f"{plain}_{suffix}"
                found[name] = sixteen.stored_in(dtype, _FLOAT32[plain], name, halves)
    return found


REARRANGED = _FLOAT32 | _in_16_bits()
