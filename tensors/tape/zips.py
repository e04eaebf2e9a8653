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
        if needed == "ab":  # the most frequent
            context.save(a, b)
        elif needed:
            context.save(*({"a": a, "b": b, "y": y}[name] for name in needed))
        return y

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        (for_a, for_b), (of_a, of_b), (shape_a, shape_b) = context.needs, context.gradients, context.shapes
        saved = context.saved
        d_a = of_a(gradient, *saved).sum_to(shape_a) if for_a else None
        d_b = of_b(gradient, *saved).sum_to(shape_b) if for_b else None
        return d_a, d_b
