"""Attention as published kernels arrange it: see rearranged.py."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any
LOG2E = np.float32(np.log2(np.e))


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


def attention_softmax(scores: Array, mask: Array, scale: float, has_mask: int, causal: int, offset: int) -> Array:
    """In base two behind the maximum, which runs over blocks of 32 keys and is never -inf."""
    x = scores * np.float32(scale)
    x = x + mask[:, None, None] if has_mask else x
    hidden = np.arange(x.shape[3]) > np.arange(x.shape[2])[:, None] + offset
    x = np.where(hidden, np.float32(-np.inf), x) if causal else x
    maximum = np.full_like(x[..., :1], np.finfo(np.float32).min)
    total = np.zeros_like(maximum)
    for start in range(0, x.shape[3], 32):
        block = x[..., start : start + 32]
        higher = np.maximum(maximum, np.max(block, axis=-1, keepdims=True))
        powers = np.exp2((block - higher) * LOG2E)
        total = total * np.exp2((maximum - higher) * LOG2E) + np.sum(powers, axis=-1, keepdims=True)
        maximum = higher
    return np.exp2((x - maximum) * LOG2E) * np.where(total == 0, np.float32(0), 1 / total)


def attention_softmax_backward(weights: Array, d_scores: Array, scale: float) -> Array:
    """The scale first, and the common term by itself."""
    scaled = d_scores * np.float32(scale)
    return weights * scaled - weights * np.sum(weights * scaled, axis=-1, keepdims=True)
