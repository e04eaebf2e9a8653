"""Gradients of functions of two numbers: what is saved, inputs a and b and output y, and each input's gradient by g."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tensors.tensor import Tensor

from .function import Gradients, Node, Origins, next_number, unwritten

Gradient = Callable[..., Tensor]


def _larger(a: Tensor, b: Tensor) -> Tensor:
    """The share that a has of the gradient of the larger one: 1, 0, or a half where they are equal."""
    return (a > b) + 0.5 * (a == b)


GRADIENTS: Mapping[str, tuple[str, Gradient, Gradient]] = {
    "add": ("", lambda g: g, lambda g: g),
    "subtract": ("", lambda g: g, lambda g: -g),
    # `zip` itself, not an operator: the most frequent
    "multiply": ("ab", lambda g, a, b: g.zip("multiply", b), lambda g, a, b: g.zip("multiply", a)),
    "divide": ("by", lambda g, b, y: g / b, lambda g, b, y: -(g * y / b)),
    "power": ("aby", lambda g, a, b, y: g * (b * a ** (b - 1.0)), lambda g, a, b, y: g * (y * a.map("log"))),
    "maximum": ("ab", lambda g, a, b: g * _larger(a, b), lambda g, a, b: g * _larger(b, a)),
    "minimum": ("ab", lambda g, a, b: g * _larger(b, a), lambda g, a, b: g * _larger(a, b)),
}
STEPS = {"less", "less_equal", "equal", "not_equal"}  # their results are not recorded: they do not move


class Zip(Node):
    """A call of Tensor.zip, which broadcasts its inputs."""

    __slots__ = ("_gradients", "_saved", "_shapes", "_versions")

    def __init__(self, inputs: Origins, function: str, a: Tensor, b: Tensor, y: Tensor) -> None:
        self.inputs, self.number = inputs, next_number()
        self._shapes = a._layout.shape, b._layout.shape
        needed, *self._gradients = GRADIENTS[function]
        self._saved: tuple[Tensor, ...] = ()
        self._versions: tuple[int, ...] = ()
        if needed == "ab":  # the most frequent
            self._saved, self._versions = (a, b), (a.storage.version, b.storage.version)
        elif needed:
            self._saved = kept = tuple([{"a": a, "b": b, "y": y}[name] for name in needed])
            self._versions = tuple([one.storage.version for one in kept])

    def free(self) -> None:
        self.inputs, self._saved = None, ()

    def gradients(self, gradient: Tensor) -> Gradients:
        saved, (shape_a, shape_b) = self._saved, self._shapes
        if saved:
            for number, tensor in enumerate(saved):
                unwritten(tensor, self._versions[number])
        assert self.inputs is not None  # backward looks first
        (for_a, for_b), (of_a, of_b) = self.inputs, self._gradients
        d_a: Tensor | None = None
        d_b: Tensor | None = None
        if for_a is not None:
            d_a = of_a(gradient, *saved)
            if d_a._layout.shape != shape_a:
                d_a = d_a.sum_to(shape_a)
        if for_b is not None:
            d_b = of_b(gradient, *saved)
            if d_b._layout.shape != shape_b:
                d_b = d_b.sum_to(shape_b)
        return d_a, d_b
