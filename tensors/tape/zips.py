"""Gradients of functions of two numbers: what is saved, inputs a and b and output y, and each input's gradient by g."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tensors.tensor import Tensor

from .function import Context, Function, Gradients

Gradient = Callable[..., Tensor]


def _larger(a: Tensor, b: Tensor) -> Tensor:
    """The share that a has of the gradient of the larger one: 1, 0, or a half where they are equal."""
    return (a > b) + 0.5 * (a == b)


GRADIENTS: Mapping[str, tuple[str, Gradient, Gradient]] = {
    "add": ("", lambda g: g, lambda g: g),
    "subtract": ("", lambda g: g, lambda g: -g),
    "multiply": ("ab", lambda g, a, b: g * b, lambda g, a, b: g * a),
    "divide": ("by", lambda g, b, y: g / b, lambda g, b, y: -(g * y / b)),
    "power": ("aby", lambda g, a, b, y: g * (b * a ** (b - 1.0)), lambda g, a, b, y: g * (y * a.map("log"))),
    "maximum": ("ab", lambda g, a, b: g * _larger(a, b), lambda g, a, b: g * _larger(b, a)),
    "minimum": ("ab", lambda g, a, b: g * _larger(b, a), lambda g, a, b: g * _larger(a, b)),
}
STEPS = {"less", "less_equal", "equal", "not_equal"}  # their results are not recorded: they do not move


class Zip(Function):
    """function: a name of ASSAYER_ZIP_..., in small letters; the inputs are broadcast."""

    @staticmethod
    def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
        (a, b), function = inputs, attributes["function"]
        y = a.zip(function, b)
        needed, *context.gradients = GRADIENTS[function]
        context.shapes = (a.shape, b.shape)
        context.save(*({"a": a, "b": b, "y": y}[name] for name in needed))
        return y

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        each = zip(context.needs, context.gradients, context.shapes, strict=True)
        saved = context.saved
        return tuple(f(gradient, *saved).sum_to(shape) if needed else None for needed, f, shape in each)
