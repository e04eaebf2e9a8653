"""Gradients of functions of one number: what is saved, input x or output y, and the gradient of x by g, that of y."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from tensors.creation import zeros
from tensors.tensor import Tensor

from .function import Gradients, Node, Origins, next_number, unwritten

Gradient = Callable[..., Tensor]


def _silu(g: Tensor, x: Tensor) -> Tensor:
    s = x.map("sigmoid")
    return g * s * (1.0 + x * (1.0 - s))


def _gelu_tanh(g: Tensor, x: Tensor) -> Tensor:
    """By the product rule, of y = x / 2 * (1 + t), t = tanh(c * (x + a * x^3))."""
    c, a = math.sqrt(2.0 / math.pi), 0.044715
    squared = x.map("square")
    t = (c * (x + a * squared * x)).map("tanh")
    slope = (1.0 - t.map("square")) * (c * (1.0 + 3.0 * a * squared))
    return g * (0.5 * (1.0 + t) + 0.5 * x * slope)


def _nothing(g: Tensor) -> Tensor:
    return zeros(g.shape, g.dtype, g.ops)


GRADIENTS: Mapping[str, tuple[str, Gradient]] = {
    "identity": ("", lambda g: g),
    "negative": ("", lambda g: g.map("negative")),
    "absolute": ("x", lambda g, x: g * x.map("sign")),
    **dict.fromkeys(("sign", "floor", "ceil", "round"), ("", _nothing)),
    "square": ("x", lambda g, x: g * (2.0 * x)),
    "reciprocal": ("y", lambda g, y: -(g * y.map("square"))),
    "sqrt": ("y", lambda g, y: y.zip("sqrt_backward", g)),
    "rsqrt": ("y", lambda g, y: g * (-0.5 * y * y.map("square"))),
    "exp": ("y", lambda g, y: g.zip("multiply", y)),
    "log": ("x", lambda g, x: g / x),
    "sin": ("x", lambda g, x: g * x.map("cos")),
    "cos": ("x", lambda g, x: -(g * x.map("sin"))),
    "tanh": ("y", lambda g, y: y.zip("tanh_backward", g)),
    "sigmoid": ("y", lambda g, y: y.zip("sigmoid_backward", g)),
    "silu": ("x", _silu),
    "softplus": ("x", lambda g, x: g * x.map("sigmoid")),
    "erf": ("x", lambda g, x: g * (2.0 / math.sqrt(math.pi) * (-x.map("square")).map("exp"))),
    "relu": ("x", lambda g, x: x.zip("relu_backward", g)),
    "gelu": ("x", lambda g, x: x.zip("gelu_backward", g)),
    "gelu_tanh": ("x", _gelu_tanh),
}


class Map(Node):
    """A call of Tensor.map."""

    __slots__ = ("_gradient", "_saved", "_version")

    def __init__(self, inputs: Origins, function: str, x: Tensor, y: Tensor) -> None:
        self.inputs, self.number = inputs, next_number()
        needed, self._gradient = GRADIENTS[function]
        self._saved = None
        if needed:
            self._saved = kept = x if needed == "x" else y
            self._version = kept.storage.version

    def free(self) -> None:
        self.inputs = self._saved = None

    def gradients(self, gradient: Tensor) -> Gradients:
        saved = self._saved
        if saved is None:
            return (self._gradient(gradient),)
        return (self._gradient(gradient, unwritten(saved, self._version)),)
