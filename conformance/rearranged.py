"""Correct float32 implementations that arrange the formula otherwise, as published kernels do.

Mathematically each is the header's formula; a judge that fails one of them would fail good libraries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import reference

Array = Any
LOG2E = np.float32(np.log2(np.e))


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
    """A softmax over the k largest logits."""
    _, indices = reference.softmax_topk(input, k)
    return reference.softmax(np.take_along_axis(input, indices, axis=1)), indices


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
        start = np.zeros((1, *C.shape), np.float32) if beta == 0 else (beta * C)[None]
        return np.add.accumulate(np.concatenate([start, left.T[:, :, None] * right[:, None, :]]), axis=0)[-1]

    return gemm


def flash_attention(Q: Array, K: Array, V: Array, scale: float) -> Array:
    """Blocks of 16 keys with a running maximum and sum (Dao et al. 2022)."""
    heads = np.arange(Q.shape[2]) * K.shape[2] // Q.shape[2]
    length = Q.shape[1]
    total = maximum = output = np.float32(0)
    for start in range(0, length, 16):
        keys, values = K[:, start : start + 16, heads], V[:, start : start + 16, heads]
        scores = np.einsum("bihd,bjhd->bihj", Q * scale, keys)
        hidden = np.arange(start, start + keys.shape[1]) > np.arange(length)[:, None]
        scores = np.where(hidden[:, None], np.float32(-np.inf), scores)
        higher = np.maximum(maximum if start else np.float32(-np.inf), np.max(scores, axis=-1, keepdims=True))
        weights, carried = np.exp(scores - higher), np.exp(maximum - higher) if start else np.float32(0)
        total = total * carried + np.sum(weights, axis=-1, keepdims=True)
        output = output * carried + np.einsum("bihj,bjhd->bihd", weights, values)
        maximum = higher
    return output / total


def attention_scores(Q: Array, K: Array, scale: float) -> Array:
    hidden = np.arange(Q.shape[1]) > np.arange(Q.shape[1])[:, None]
    return np.where(hidden, np.float32(-np.inf), np.einsum("bihd,bjd->bhij", Q * scale, K))


def attention_forward(Q: Array, K: Array, V: Array, kv_len: int, scale: float) -> tuple[Array, Array]:
    """Two halves of the keys apart, joined by their log-sum-exps (flash decoding)."""
    heads = np.arange(Q.shape[2]) * K.shape[2] // Q.shape[2]
    hidden = np.arange(kv_len) > np.arange(kv_len - Q.shape[1], kv_len)[:, None]
    scores = np.einsum("bihd,bjhd->bihj", Q, K[:, :kv_len, heads]) * np.float32(scale)
    scores = np.where(hidden[:, None], np.float32(-np.inf), scores)
    parts = []
    for half in (slice(0, kv_len // 2), slice(kv_len // 2, kv_len)):
        if scores[..., half].size:
            maximum = np.maximum(np.max(scores[..., half], axis=-1, keepdims=True), np.float32(-1e30))
            weights = np.exp(scores[..., half] - maximum)
            total = np.sum(weights, axis=-1, keepdims=True)
            lse = np.where(total > 0, maximum + np.log(total), np.float32(-np.inf))
            values = np.einsum("bihj,bjhd->bihd", weights, V[:, :kv_len][:, half][:, :, heads])
            parts.append((values / np.where(total > 0, total, np.float32(1)), lse))
    lse = np.logaddexp.reduce([lse for _, lse in parts])
    return sum(np.exp(one - lse) * values for values, one in parts), np.swapaxes(lse[..., 0], 1, 2)


def attention_backward(
    Q: Array, K: Array, V: Array, output: Array, lse: Array, d_output: Array, scale: float
) -> tuple[Array, Array, Array]:
    """In base two; the scale goes into the results; heads of a group are added after the products."""
    heads = np.arange(Q.shape[2]) * K.shape[2] // Q.shape[2]
    hidden = np.arange(Q.shape[1]) > np.arange(Q.shape[1])[:, None]
    scores = np.einsum("bihd,bjhd->bhij", Q, K[:, :, heads]) * (np.float32(scale) * LOG2E)
    P = np.where(hidden, np.float32(0), np.exp2(scores - (lse * LOG2E)[..., None]))
    D = np.sum(output * d_output, axis=-1).swapaxes(1, 2)[..., None]
    dS = P * (np.einsum("bihd,bjhd->bhij", d_output, V[:, :, heads]) - D)
    groups = (heads[:, None] == np.arange(K.shape[2])).astype(np.float32)
    d_Q = np.einsum("bhij,bjhd->bihd", dS, K[:, :, heads]) * scale
    d_K = np.einsum("bjhd,hg->bjgd", np.einsum("bhij,bihd->bjhd", dS, Q) * scale, groups)
    return d_Q, d_K, np.einsum("bjhd,hg->bjgd", np.einsum("bhij,bihd->bjhd", P, d_output), groups)


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
    m = m + np.float32(1 - beta1) * (grad - m)
    v = v * np.float32(beta2) + np.float32(1 - beta2) * grad * grad
    denominator = np.sqrt(v) / np.float32((1 - beta2**step) ** 0.5) + np.float32(eps)
    return param - np.float32(lr / (1 - beta1**step)) * (m / denominator), m, v


def aux_loss_forward(router_probs: Array, expert_indices: Array, alpha: float) -> tuple[Array, Array, Array]:
    tokens, experts = router_probs.shape
    counts = np.bincount(expert_indices.ravel(), minlength=experts).astype(np.float32)
    total = np.sum(router_probs, axis=0)
    factor = np.float32(alpha * experts / tokens**2)
    return np.sum(counts * total, keepdims=True) * factor, counts, total * np.float32(1 / tokens)


def grad_clip(grad: Array, clip_norm: float) -> tuple[Array, Array]:
    norm = np.sqrt(np.sum(grad * grad, keepdims=True).reshape(1))
    return (grad * clip_norm / norm if norm[0] > clip_norm else grad), norm


def _drawn(weights: Array, seeds: Array) -> Array:
    """The draw scaled by the sum, instead of the sum divided out."""
    ends = np.cumsum(weights, axis=1)
    state = (seeds ^ (np.arange(len(seeds), dtype=np.uint64) * 12345)) & 0xFFFFFFFF
    u = (((state * 1664525 + 1013904223) & 0xFFFFFFFF) >> 8).astype(np.float32) * np.float32(2.0**-24)
    taken = u[:, None] * ends[:, -1:] < ends
    last = weights.shape[1] - 1 - np.argmax(weights[:, ::-1] > 0, axis=1)
    return np.where(taken.any(axis=1), np.argmax(taken, axis=1), last)


def _weights(logits: Array, temperature: float) -> Array:
    """Divided by the temperature before anything else."""
    hot = logits / np.float32(temperature)
    return np.exp(hot - np.max(hot, axis=1, keepdims=True))


def sample(logits: Array, seeds: Array, temperature: float) -> Array:
    if temperature == 0:
        return reference.argmax(logits)
    return _drawn(_weights(logits, temperature), seeds).astype(np.int32)


def topk_sample(logits: Array, seeds: Array, k: int, temperature: float) -> Array:
    if temperature == 0:
        return reference.argmax(logits)
    order = np.argsort(-logits, axis=1, kind="stable")[:, :k]
    place = _drawn(_weights(np.take_along_axis(logits, order, axis=1), temperature), seeds)
    return np.take_along_axis(order, place[:, None], axis=1)[:, 0].astype(np.int32)


def topp_sample(logits: Array, seeds: Array, top_p: float, temperature: float) -> Array:
    """Ranked by logits; the prefix is found on the weights as they are."""
    if temperature == 0:
        return reference.argmax(logits)
    order = np.argsort(-logits, axis=1, kind="stable")
    weights = np.take_along_axis(_weights(logits, temperature), order, axis=1)
    before = np.cumsum(weights, axis=1) - weights
    kept = (before < np.float32(top_p) * np.sum(weights, axis=1, keepdims=True)) | (top_p >= 1)
    kept[:, 0] = True
    place = _drawn(np.where(kept, weights, np.float32(0)), seeds)
    return np.take_along_axis(order, place[:, None], axis=1)[:, 0].astype(np.int32)


_PLAIN: tuple[Callable[..., Any], ...] = (
    *(silu, silu_backward, swiglu, swiglu_backward, softmax, softmax_backward, softmax_topk),
    *(rmsnorm, rmsnorm_backward, rmsnorm_residual, rope_freqs),
    *(attention_scores, flash_attention, attention_forward, attention_backward),
    *(cross_entropy_forward, adamw_step, aux_loss_forward, grad_clip, sample, topk_sample, topp_sample),
)
REARRANGED: dict[str, Callable[..., Any]] = {function.__name__: function for function in _PLAIN} | {
    "gemm_beta": _gemm(lambda A, B: (A, B.T)),
    "gemm_nn": _gemm(lambda A, B: (A, B)),
    "gemm_tn": _gemm(lambda A, B: (A.T, B)),
    "gemm_tt": _gemm(lambda A, B: (A.T, B.T)),
}
