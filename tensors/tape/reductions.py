"""Gradients of sums, products and extremes along axes, and of products of matrices."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from tensors.layout import axes_of
from tensors.tensor import Tensor

from .function import Context, Function, Gradients
from .views import in_order


def _sum(g: Tensor, how: SimpleNamespace) -> Tensor:
    return g.broadcast_to(how.shape)


def _mean(g: Tensor, how: SimpleNamespace) -> Tensor:
    return (g / float(max(1, math.prod(how.shape[k] for k in how.axes)))).broadcast_to(how.shape)


def _product(g: Tensor, how: SimpleNamespace, x: Tensor) -> Tensor:
    """g times the product of the others, which for a single 0 is that of all but it, and 0 for the rest."""
    zero = x == 0.0
    zeros = zero.sum(how.axes, keepdims=True)
    without = x + zero  # 1 in the place of each 0
    others = (zeros == 0.0) + (zeros == 1.0) * zero
    return g * without.reduce("product", how.axes, True, how.start) / without * others


def _extreme(g: Tensor, how: SimpleNamespace, x: Tensor, y: Tensor) -> Tensor:
    """Equal parts to all that are the extreme one."""
    met = x == y
    return g * (met / met.sum(how.axes, keepdims=True).maximum(1.0))


GRADIENTS: Mapping[str, tuple[str, Callable[..., Tensor]]] = {
    "sum": ("", _sum),
    "mean": ("", _mean),
    "product": ("x", _product),
    "maximum": ("xy", _extreme),
    "minimum": ("xy", _extreme),
}


class Reduce(Function):
    """function: a name of ASSAYER_REDUCE_..., in small letters; axis, keepdims, start: as Tensor.reduce takes them."""

    @staticmethod
    def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
        (x,), function, start = inputs, attributes["function"], attributes["start"]
        axes = axes_of(function, attributes["axis"], x.ndim)
        y = x.reduce(function, axes, True, start)
        needed, context.gradient = GRADIENTS[function]
        context.kept, context.how = y.shape, SimpleNamespace(shape=x.shape, axes=axes, start=start)
        context.save(*({"x": x, "y": y}[name] for name in needed))
        return y if attributes["keepdims"] else y.squeeze(axes)

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        g = gradient.contiguous().reshape(context.kept)
        return (context.gradient(g, context.how, *context.saved),)


class MatMul(Function):
    """The product of matrices in the last two axes, those before broadcast."""

    @staticmethod
    def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
        a, b = inputs
        context.save(a, b)
        return a @ b

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        a, b = context.saved
        d_a = (gradient @ b.mT).sum_to(a.shape) if context.needs[0] else None
        if not context.needs[1]:
            return d_a, None
        if b.ndim == 2 and a.size and gradient.size:  # the same b for all rows: one product, which is also their sum
            a, gradient = _rows(a), _rows(gradient)
        lies_in_columns = b.strides[-2] == 1 != b.strides[-1]  # as a transpose does: so what was transposed gets rows
        d_b = (gradient.mT @ a).mT if lies_in_columns else a.mT @ gradient
        return d_a, d_b.sum_to(b.shape)


def _rows(x: Tensor) -> Tensor:
    """Return a tensor as a matrix: its last axis, and all others as rows."""
    return x if x.ndim == 2 else in_order(x, (x.size // x.shape[-1], x.shape[-1]))
