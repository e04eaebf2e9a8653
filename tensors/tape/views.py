"""Gradients of views, and of several tensors as one."""

from __future__ import annotations

from typing import Any

from tensors.creation import concat, zeros
from tensors.tensor import Tensor

from .function import Context, Function, Gradients


class View(Function):
    """change: of a layout; each element is named at most once. The gradient is 0 where none is."""

    @staticmethod
    def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
        (x,) = inputs
        context.change, context.shape = attributes["change"], x.shape
        y = x.viewed(attributes["change"])
        dense = x.layout.is_dense and y.layout.is_dense
        context.in_order = dense and (x.size, x.layout.offset) == (y.size, y.layout.offset)
        return y

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        if context.in_order:  # all elements, one behind the other as before: another shape, and nothing else
            return (gradient.contiguous().reshape(context.shape),)
        d_x = zeros(context.shape, gradient.dtype, gradient.ops)
        d_x.viewed(context.change)[...] = gradient
        return (d_x,)


class Broadcast(Function):
    """shape: as Tensor.broadcast_to takes it."""

    @staticmethod
    def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
        (x,) = inputs
        context.shape = x.shape
        return x.broadcast_to(attributes["shape"])

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        return (gradient.sum_to(context.shape),)


class Contiguous(Function):
    """A dense copy where the input is not dense."""

    @staticmethod
    def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
        (x,) = inputs
        return x.contiguous()

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        return (gradient,)


class Concat(Function):
    """axis: that along which the inputs lie one behind the other."""

    @staticmethod
    def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
        joined = concat(inputs, attributes["axis"])
        context.axis = attributes["axis"] % joined.ndim
        context.lengths = [x.shape[context.axis] for x in inputs]
        return joined

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        found, at, before = [], 0, (slice(None),) * context.axis
        for length in context.lengths:
            found.append(gradient[(*before, slice(at, at + length))])
            at += length
        return tuple(found)
