"""Causal attention with grouped KV heads (MHA, GQA, MQA), its gradient, and the KV cache.

Inside, queries are laid out (batch, n_kv_heads, q_len * group, head_dim): the heads that share a KV head lie one below
the other, so that every product is one matrix product per batch and KV head, without a copy where there is one KV head.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from reference.arrays import Array, check, check_same_shape, ieee, in_dtype_of

from .blocks import by_rows


@ieee
def attention_scores(Q: Array, K: Array, scale: float) -> Array:
    """scale * Q . K^T for keys up to the query's own position, -inf beyond (one KV head).

    Q: (batch, seq_len, n_heads, head_dim), K: (batch, seq_len, head_dim). Returns (batch, n_heads, seq_len, seq_len).
    """
    return _masked(np.swapaxes(Q, 1, 2) @ np.swapaxes(K, 1, 2)[:, None] * scale, Q.shape[1])


@ieee
def attention_output(weights: Array, V: Array) -> Array:
    """weights . V (one KV head). weights: (batch, n_heads, seq_len, seq_len), V: (batch, seq_len, head_dim)."""
    return _swapped(weights @ V[:, None])


@ieee
def flash_attention(Q: Array, K: Array, V: Array, scale: float) -> Array:
    """softmax(scale * Q . K^T) . V, causal; query head h reads KV head h * n_kv_heads / n_q_heads.

    Q: (batch, seq_len, n_q_heads, head_dim), K and V: (batch, seq_len, n_kv_heads, head_dim).
    """
    _check_heads("flash_attention", Q, K, V)
    return _attend(Q, K, V, scale)[0]


@ieee
def attention_forward(Q: Array, K: Array, V: Array, kv_len: int, scale: float) -> tuple[Array, Array]:
    """Causal attention to the first kv_len cached keys, the queries being the last positions, and its log-sum-exp.

    Q: (batch, q_len, n_q_heads, head_dim), K and V: (batch, kv_capacity, n_kv_heads, head_dim).
    Returns output like Q and lse: (batch, n_q_heads, q_len).
    """
    _check_heads("attention_forward", Q, K, V)
    fits = Q.shape[1] <= kv_len <= K.shape[1]
    check(fits, "attention_forward", "kv_len", f"{Q.shape[1]} queries <= kv_len <= {K.shape[1]} keys", kv_len)
    return _attend(Q, K[:, :kv_len], V[:, :kv_len], scale)


def _attend(Q: Array, K: Array, V: Array, scale: float) -> tuple[Array, Array]:
    output, lse = by_rows(partial(_attend_sequences, scale=scale), Q, K, V)
    return output, lse


def _attend_sequences(Q: Array, K: Array, V: Array, scale: float) -> tuple[Array, Array]:
    keys, values = np.swapaxes(K, 1, 2), np.swapaxes(V, 1, 2)
    scores = _masked(_grouped(Q, K.shape[2]) @ np.swapaxes(keys, 2, 3) * scale, Q.shape[1])
    maximum = np.max(scores, axis=-1, keepdims=True)
    exponentials = np.exp(scores - maximum)
    total = np.sum(exponentials, axis=-1, keepdims=True)
    lse = maximum + np.log(total)
    return _ungrouped(exponentials / total @ values, Q.shape), _swapped(_ungrouped(lse, (*Q.shape[:3], 1))[..., 0])


@ieee
def attention_backward(
    Q: Array, K: Array, V: Array, output: Array, lse: Array, d_output: Array, scale: float
) -> tuple[Array, Array, Array]:
    """d_Q, d_K, d_V of flash_attention from its output and log-sum-exp (Dao et al. 2022, FlashAttention, algorithm 4).

    P = exp(scale * Q . K^T - lse), dS = P * (d_output . V^T - sum(d_output * output)); shapes as in the forward.
    """
    _check_heads("attention_backward", Q, K, V)
    check_same_shape("attention_backward", Q=Q, output=output, d_output=d_output)
    d_Q, d_K, d_V = by_rows(partial(_sequences_backward, scale=scale), Q, K, V, output, lse, d_output)
    return d_Q, d_K, d_V


def _sequences_backward(
    Q: Array, K: Array, V: Array, output: Array, lse: Array, d_output: Array, scale: float
) -> tuple[Array, Array, Array]:
    kv_heads = K.shape[2]
    queries, d_out = _grouped(Q, kv_heads), _grouped(d_output, kv_heads)
    keys, values = np.swapaxes(K, 1, 2), np.swapaxes(V, 1, 2)
    rows_lse = _grouped(np.swapaxes(lse, 1, 2)[..., None], kv_heads)
    P = np.exp(_masked(queries @ np.swapaxes(keys, 2, 3) * scale, Q.shape[1]) - rows_lse)
    D = np.sum(d_out * _grouped(output, kv_heads), axis=-1, keepdims=True)
    dS = P * (d_out @ np.swapaxes(values, 2, 3) - D) * scale
    d_K, d_V = np.swapaxes(dS, 2, 3) @ queries, np.swapaxes(P, 2, 3) @ d_out
    return _ungrouped(dS @ keys, Q.shape), _swapped(d_K), _swapped(d_V)


@ieee
def kv_cache_append(input: Array, cache: Array, position: int) -> Array:
    """The cache with input in place of its entries position, position + 1, ...

    input: (batch, new_len, n_kv_heads, head_dim), cache: (batch, kv_capacity, n_kv_heads, head_dim).
    """
    stop = position + input.shape[1]
    room = cache.shape[1] - input.shape[1]
    check(0 <= position <= room, "kv_cache_append", "position", f"0 <= position <= {room}", position)
    cache = in_dtype_of(cache, input)
    return np.concatenate([cache[:, :position], input, cache[:, stop:]], axis=1)


def _grouped(x: Array, kv_heads: int) -> Array:
    """(batch, len, n_q_heads, d) as (batch, n_kv_heads, len * group, d): query head h belongs to KV head h // group."""
    batch, length, heads, width = x.shape
    split = x.reshape(batch, length, kv_heads, heads // kv_heads, width)
    return np.swapaxes(split, 1, 2).reshape(batch, kv_heads, -1, width)


def _ungrouped(x: Array, shape: tuple[int, ...]) -> Array:
    """The reverse of _grouped: x as (batch, len, n_q_heads, d)."""
    batch, length, heads, width = shape
    split = x.reshape(batch, x.shape[1], length, heads // x.shape[1], width)
    return np.swapaxes(split, 1, 2).reshape(shape)


def _swapped(x: Array) -> Array:
    """Heads and positions exchanged, as a dense array."""
    return np.copy(np.swapaxes(x, 1, 2), order="C")


def _masked(scores: Array, q_len: int) -> Array:
    """-inf at the keys that the last q_len positions do not see. scores: (..., q_len * group, kv_len)."""
    rows, kv_len = scores.shape[-2:]
    position = np.repeat(np.arange(kv_len - q_len, kv_len), rows // q_len)
    return np.where(np.arange(kv_len) <= position[:, None], scores, -np.inf)


def _check_heads(operation: str, Q: Array, K: Array, V: Array) -> None:
    check_same_shape(operation, K=K, V=V)
    check(Q.shape[2] % K.shape[2] == 0, operation, "Q", f"a multiple of {K.shape[2]} KV heads", Q.shape[2])
