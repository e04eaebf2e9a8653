"""The attention sublayer: query, key and value products, rotation, causal attention, output product.

Arrays between operations are [tokens, features], tokens = batch * seq, and [batch, seq, heads, head_dim] within.
"""

from __future__ import annotations

from typing import NamedTuple

from reference.arrays import Array
from reference.namespace import Ops

from . import linear
from .config import Config
from .parameters import Layer


class Cache(NamedTuple):
    """One layer's rotated keys and values, [batch, capacity, kv_heads, head_dim]."""

    keys: Array
    values: Array


class Kept(NamedTuple):
    """What backward needs of forward; q and k are rotated, output is attention's before w_o."""

    x: Array
    q: Array
    k: Array
    v: Array
    output: Array
    lse: Array


def forward(
    ops: Ops,
    config: Config,
    layer: Layer,
    x: Array,
    freqs: Array,
    batch: int,
    cache: Cache | None,
    position: int,
) -> tuple[Array, Kept, Cache | None]:
    """(output, kept, cache): x [tokens, hidden] stands at the positions from `position` on.

    With a cache the new keys and values are appended at `position`, and attention reads all up to there.
    """
    seq = x.shape[0] // batch
    queries, keys = (batch, seq, config.q_heads, config.head_dim), (batch, seq, config.kv_heads, config.head_dim)
    q = ops.gemm(x, layer.w_q).reshape(queries)
    k = ops.gemm(x, layer.w_k).reshape(keys)
    v = ops.gemm(x, layer.w_v).reshape(keys)
    q, k = ops.rope_qk(q, k, freqs, offset=position)
    seen_k, seen_v = k, v
    if cache is not None:
        seen_k = ops.kv_cache_append(k, cache.keys, position=position)
        seen_v = ops.kv_cache_append(v, cache.values, position=position)
        cache = Cache(seen_k, seen_v)
    output, lse = ops.attention_forward(q, seen_k, seen_v, kv_len=position + seq, scale=config.attention_scale)
    y = ops.gemm(output.reshape(x.shape[0], -1), layer.w_o)
    return y, Kept(x, q, k, v, output, lse), cache


def backward(
    ops: Ops, config: Config, layer: Layer, kept: Kept, freqs: Array, d_y: Array, into: Layer
) -> tuple[Array, dict[str, Array]]:
    """(d_x, gradients by field), the gradients added to what `into` holds; for a forward without a cache."""
    tokens = d_y.shape[0]
    d_output, d_w_o = linear.backward(ops, kept.output.reshape(tokens, -1), layer.w_o, d_y, into.w_o)
    d_q, d_k, d_v = ops.attention_backward(
        kept.q, kept.k, kept.v, kept.output, kept.lse, d_output.reshape(kept.output.shape), scale=config.attention_scale
    )
    d_q, d_k = ops.rope_qk_backward(d_q, d_k, freqs, offset=0)
    d_x, d_w_q = linear.backward(ops, kept.x, layer.w_q, d_q.reshape(tokens, -1), into.w_q)
    d_x, d_w_k = linear.backward(ops, kept.x, layer.w_k, d_k.reshape(tokens, -1), into.w_k, d_x)
    d_x, d_w_v = linear.backward(ops, kept.x, layer.w_v, d_v.reshape(tokens, -1), into.w_v, d_x)
    return d_x, {"w_q": d_w_q, "w_k": d_w_k, "w_v": d_w_v, "w_o": d_w_o}
