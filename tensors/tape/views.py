"""Gradients of views, and of several tensors as one."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from tensors.creation import concat
from tensors.errors import TensorError
from tensors.layout import Layout, Shape, dense, permuted
from tensors.tensor import Tensor

from .function import Context, Function, Gradients, Node, Origins, next_number
from .parts import Part


class View(Node):
    """A call of Tensor.viewed: each element is named at most once. The gradient is 0 where none is."""

    __slots__ = ("_change", "_shape")

    def __init__(self, inputs: Origins, change: Callable[[Layout], Layout], shape: Shape) -> None:
        self.inputs, self.number = inputs, next_number()
        self._change, self._shape = change, shape

    def gradients(self, gradient: Tensor) -> Gradients:
        shape = self._shape
        order = _order(self._change(dense(shape)), math.prod(shape))
        if order is None:
            return (Part(shape, self._change, gradient),)
        turned = gradient if order == tuple(range(len(order))) else gradient.permute_dims(order)
        return (turned if turned._layout.shape == shape else in_order(turned, shape),)


@lru_cache(maxsize=4096)
def _order(layout: Layout, size: int) -> tuple[int, ...] | None:
    """Return the order of axes in which a view of a dense tensor of `size` names all its elements one behind the other.

    None where it does not name all, or descends along an axis.
    """
    if layout.size != size or layout.offset:
        return None
    order = sorted(range(len(layout.shape)), key=lambda k: -layout.strides[k] if layout.shape[k] != 1 else 0)
    return tuple(order) if permuted(layout, order).is_dense else None


def in_order(x: Tensor, shape: Shape) -> Tensor:
    """Return the same elements in the same order, of another shape: a view where strides can say it, else a copy."""
    try:
        return x.reshape(shape)
    except TensorError:
        return x.contiguous().reshape(shape)


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
