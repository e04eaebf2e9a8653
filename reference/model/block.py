"""One layer: x = x + attention(norm(x)); x = x + moe(norm(x)).

A sublayer's output is added to the residual stream by the norm that follows it (rmsnorm_residual), so a block receives
the stream and a branch that is still to be added, and hands both on.
"""

from __future__ import annotations

from typing import NamedTuple

from reference.arrays import Array
from reference.namespace import Ops

from . import attention, linear, moe
from .config import Config
from .parameters import Layer


class Kept(NamedTuple):
    """What backward needs of forward: the stream [tokens, hidden] that each norm read, and each sublayer's own."""

    attn_stream: Array
    attention: attention.Kept
    ffn_stream: Array
    moe: moe.Kept


class Output(NamedTuple):
    """What a block hands on: the stream, the branch to be added to it, and what this layer came by."""

    stream: Array
    branch: Array
    aux_loss: Array
    kept: Kept
    cache: attention.Cache | None


def join(ops: Ops, config: Config, stream: Array, branch: Array | None, weight: Array) -> tuple[Array, Array]:
    """(norm of the sum, the sum) of stream and branch; before the first sublayer there is no branch."""
    if branch is None:
        return ops.rmsnorm(stream, weight, eps=config.eps), stream
    normed, stream = ops.rmsnorm_residual(branch, stream, weight, eps=config.eps)
    return normed, stream


def forward(
    ops: Ops, config: Config, layer: Layer, stream: Array, branch: Array | None, freqs: Array, batch: int,
    cache: attention.Cache | None = None, position: int = 0,
) -> Output:  # fmt: skip
    """The layer's two sublayers; cache and position as in attention.forward."""
    normed, attn_stream = join(ops, config, stream, branch, layer.attn_norm)
    branch, attended, cache = attention.forward(ops, config, layer, normed, freqs, batch, cache, position)
    normed, ffn_stream = join(ops, config, attn_stream, branch, layer.ffn_norm)
    branch, aux_loss, mixed = moe.forward(ops, config, layer, normed)
    return Output(ffn_stream, branch, aux_loss, Kept(attn_stream, attended, ffn_stream, mixed), cache)


def backward(
    ops: Ops, config: Config, layer: Layer, kept: Kept, freqs: Array, d_stream: Array, scale: float, into: Layer
) -> tuple[Array, Layer]:
    """(d_stream before the layer, gradients): d_stream is the gradient of stream + branch behind the layer."""
    d_normed, of_moe = moe.backward(ops, config, layer, kept.moe, d_stream, scale, into)
    d_stream, d_ffn_norm = join_backward(
        ops, config, kept.ffn_stream, layer.ffn_norm, d_normed, d_stream, into.ffn_norm
    )
    d_normed, of_attention = attention.backward(ops, config, layer, kept.attention, freqs, d_stream, into)
    d_stream, d_attn_norm = join_backward(
        ops, config, kept.attn_stream, layer.attn_norm, d_normed, d_stream, into.attn_norm
    )
    return d_stream, Layer(attn_norm=d_attn_norm, ffn_norm=d_ffn_norm, **of_attention, **of_moe)


def join_backward(
    ops: Ops, config: Config, stream: Array, weight: Array, d_normed: Array, d_stream: Array | None, into: Array | None
) -> tuple[Array, Array]:
    """(gradient of stream and branch alike, of the weight): stream is the sum that was normed.

    Behind the final norm the stream goes nowhere, so nothing comes back through it.
    """
    eps, beta = config.eps, linear.beta(into)
    if d_stream is None:
        d_sum, d_weight = ops.rmsnorm_backward(stream, weight, d_normed, into, eps=eps, beta=beta)
    else:
        d_sum, d_weight = ops.rmsnorm_residual_backward(stream, weight, d_normed, d_stream, into, eps=eps, beta=beta)
    return d_sum, d_weight
