"""Rotary positions, causal attention with grouped KV heads, and attention's softmax, by the header's operations."""

from __future__ import annotations

from typing import Any

from tensors.tape import Context, Function, Gradients
from tensors.tensor import Tensor

from .arrays import array_of, tensor_of


class Rope(Function):
    """Each pair (2d, 2d + 1) turned by its position's angle. x: (batch, seq, heads, head_dim).

    angles: (at least seq, head_dim / 2), an array.
    """

    @staticmethod
    def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
        (x,), context.angles = inputs, attributes["angles"]
        return tensor_of(x.ops.rope_forward(array_of(x), context.angles, offset=0), x.ops)

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        ops = gradient.ops
        return (tensor_of(ops.rope_backward(array_of(gradient), context.angles, offset=0), ops),)


class Attention(Function):
    """softmax(scale * q k^T) v of the keys up to each query's own position.

    q: (batch, seq, q_heads, head_dim), k and v: (batch, seq, kv_heads, head_dim); query head h reads KV head
    h * kv_heads / q_heads.
    """

    @staticmethod
    def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
        ops, scale = inputs[0].ops, attributes["scale"]
        output, lse = ops.attention_forward(*map(array_of, inputs), kv_len=inputs[1].shape[1], scale=scale)
        y = tensor_of(output, ops)
        context.save(*inputs, y)
        context.lse, context.scale = lse, scale
        return y

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        ops, saved = gradient.ops, map(array_of, context.saved)
        found = ops.attention_backward(*saved, context.lse, array_of(gradient), scale=context.scale)
        return tuple(tensor_of(one, ops) for one in found)


class AttentionSoftmax(Function):
    """Scores (batch, heads, queries, keys) as weights, under masks.

    The operations work in place: on a copy here, for neither what a caller holds nor a gradient may be written.
    """

    @staticmethod
    def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
        (scores,), mask = inputs, attributes["mask"]
        context.scale = attributes["scale"]
        numbers = {"has_mask": int(mask is not None), "causal": int(attributes["causal"])}
        numbers["offset"] = attributes["offset"]
        added = None if mask is None else array_of(mask)
        found = scores.ops.attention_softmax(array_of(scores.copy()), added, scale=context.scale, **numbers)
        weights = tensor_of(found, scores.ops)
        context.save(weights)
        return weights

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        (weights,), ops = context.saved, gradient.ops
        found = ops.attention_softmax_backward(array_of(weights), array_of(gradient.copy()), scale=context.scale)
        return (tensor_of(found, ops),)
