"""Softmax of attention's scores under a mask of keys and of the future, as fused kernels of transformers have it."""

from __future__ import annotations

from functools import partial

import numpy as np

from reference.arrays import Array, check, check_same_shape, ieee

from .blocks import by_rows
from .softmax import softmax_backward


@ieee
def attention_softmax(
    scores: Array, mask: Array | None, scale: float, has_mask: int, causal: int, offset: int
) -> Array:
    """softmax over the keys of scale * scores + mask; 0 in the row of a query that sees no key.

    scores: (batch, n_heads, q_len, kv_len); mask: (batch, kv_len), added, not read where has_mask is 0. Where causal is
    not 0, query i sees the keys up to i + offset alone. Raises ValueError where mask has another shape.
    """
    check(np.ndim(scores) == 4, "attention_softmax", "scores", "four axes", np.shape(scores))
    batch, n_heads, q_len, kv_len = scores.shape
    heads = [scores.reshape(batch * n_heads, q_len, kv_len)]
    if has_mask:
        given: Array = np.zeros(()) if mask is None else mask
        due = (batch, kv_len)
        check(given.shape == due, "attention_softmax", "mask", f"shape {due}", given.shape)
        heads.append(given[np.repeat(np.arange(batch), n_heads)][:, None])
    return by_rows(partial(_weights, scale=scale, last=offset if causal else None), *heads).reshape(scores.shape)


def _weights(x: Array, *mask: Array, scale: float, last: int | None) -> Array:
    """Of several heads, (heads, q_len, kv_len) and, where there is one, the mask (heads, 1, kv_len).

    last: the first query's position, the last key that it sees; None: all are seen.
    """
    x = x * scale + mask[0] if mask else x * scale
    if last is not None:
        position = np.arange(x.shape[1])[:, None] + last
        x = np.where(np.arange(x.shape[2]) <= position, x, -np.inf)
    most = np.max(x, axis=-1, keepdims=True)
    is_seen = np.logical_not(most == -np.inf)  # any key at all; NaN is one
    exponentials = np.where(is_seen, np.exp(x - np.where(is_seen, most, 0.0)), 0.0)
    return exponentials / np.where(is_seen, np.sum(exponentials, axis=-1, keepdims=True), 1.0)


@ieee
def attention_softmax_backward(weights: Array, d_scores: Array, scale: float) -> Array:
    """scale * w * (d - sum(w * d)) over the keys, w = weights, d = d_scores, which is the weights' gradient.

    weights, d_scores: (batch, n_heads, q_len, kv_len). Raises ValueError where their shapes differ.
    """
    check_same_shape("attention_softmax_backward", weights=weights, d_scores=d_scores)
    rows = (-1, weights.shape[-1])
    return softmax_backward(weights.reshape(rows), d_scores.reshape(rows)).reshape(weights.shape) * scale
