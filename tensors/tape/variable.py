"""A tensor on the tape."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self

import numpy as np

from tensors.arithmetic import Arithmetic, Axis
from tensors.creation import full
from tensors.errors import TapeError, check
from tensors.layout import Layout, Shape
from tensors.tensor import Tensor

from .backward import backward
from .function import Context, Function, Leaf, Node
from .maps import Map
from .reductions import MatMul, Reduce
from .views import Broadcast, Concat, Contiguous, View
from .zips import GRADIENTS, STEPS, Zip

_ONE: tuple[tuple[bool, ...], ...] = ((False,), (True,))
_RECORDS = ContextVar("_RECORDS", default=True)


@contextmanager
def no_grad() -> Iterator[None]:
    """Within, nothing is recorded."""
    token = _RECORDS.set(False)
    try:
        yield
    finally:
        _RECORDS.reset(token)


class Variable(Arithmetic):
    """A tensor, `value`, and where it came from; with requires_grad a leaf, where `grad` is gathered.

    Every operator, function and view is recorded, when something that it reads requires a gradient.
    """

    __slots__ = ("_origin", "value")
    __array_ufunc__ = None

    def __init__(self, value: Tensor, requires_grad: bool = False) -> None:
        if not isinstance(value, Tensor):
            check(False, "Variable", "a Tensor", type(value).__name__)
        self.value = value
        self._origin: Node | Leaf | None = Leaf() if requires_grad else None

    @property
    def layout(self) -> Layout:
        return self.value.layout

    @property
    def requires_grad(self) -> bool:
        return self._origin is not None

    @property
    def grad(self) -> Tensor | None:
        """A leaf's gradient: None before the first backward, and of what is no leaf."""
        return self._origin.grad if isinstance(self._origin, Leaf) else None

    def zero_grad(self) -> None:
        """Forget a leaf's gradient."""
        if isinstance(self._origin, Leaf):
            self._origin.grad = None

    def backward(self, gradient: Tensor | None = None, retain_graph: bool = False) -> None:
        """Add to the leaves' grad; gradient: that of this value, 1 where it is one number.

        Raises TapeError where nothing was recorded, for another shape, and for a graph that is freed.
        """
        if self._origin is None:
            raise TapeError("backward: expected what was computed from a leaf that requires a gradient, got a constant")
        if gradient is None and self.size != 1:
            raise TapeError(f"backward: expected a gradient of shape {self.shape}, for it is no number, got none")
        seed = full(self.shape, 1.0, self.value.dtype, self.value.ops) if gradient is None else gradient
        if seed.shape != self.shape:
            raise TapeError(f"backward: expected a gradient of shape {self.shape}, got {seed.shape}")
        backward(self._origin, seed, retain_graph)

    def detach(self) -> Self:
        """The same tensor as a constant."""
        return type(self)(self.value)

    def numpy(self) -> np.ndarray[Any, Any]:
        return self.value.numpy()

    def item(self) -> float:
        return self.value.item()

    def __repr__(self) -> str:
        return f"Variable({self.value!r}, requires_grad={self.requires_grad})"

    def map(self, function: str) -> Self:
        return self._apply(Map, self, function=function)

    def zip(self, function: str, other: Any) -> Self:
        second = self._lift(other)
        if function in GRADIENTS:
            return self._apply(Zip, self, second, function=function)
        if function not in STEPS and _RECORDS.get() and (self.requires_grad or second.requires_grad):
            raise TapeError(f"{function}: expected a function with a gradient, {', '.join(GRADIENTS)}, on the tape")
        return type(self)(self.value.zip(function, second.value))

    def reduce(self, function: str, axis: Axis = None, keepdims: bool = False, start: float | None = None) -> Self:
        return self._apply(Reduce, self, function=function, axis=axis, keepdims=keepdims, start=start)

    def broadcast_to(self, shape: int | Sequence[int]) -> Self:
        return self._apply(Broadcast, self, shape=shape)

    def contiguous(self) -> Self:
        """This, where it is dense; else a dense copy."""
        return self._apply(Contiguous, self)

    def _view(self, change: Callable[[Layout], Layout]) -> Self:
        return self._apply(View, self, change=change)

    def _product(self, other: Self) -> Self:
        return self._apply(MatMul, self, self._lift(other))

    def _lift(self, other: Any) -> Self:
        if isinstance(other, type(self)):
            return other
        if isinstance(other, Tensor):
            return type(self)(other)
        return type(self)(self.value._lift(other))

    @classmethod
    def _apply(cls, function: type[Function], /, *inputs: Variable, **attributes: Any) -> Self:
        """Call a function; record it where an input requires a gradient."""
        values: tuple[Tensor, ...]
        origins: tuple[Node | Leaf | None, ...]
        shapes: tuple[Shape, ...]
        if len(inputs) == 1:  # most have one or two, of which a loop takes longer
            (x,) = inputs
            values, origins, shapes = (x.value,), (x._origin,), (x.value._layout.shape,)
            needs = _ONE[x._origin is not None]
        elif len(inputs) == 2:
            x, y = inputs
            values, origins, shapes = (
                (x.value, y.value),
                (x._origin, y._origin),
                (x.value._layout.shape, y.value._layout.shape),
            )
            needs = (x._origin is not None, y._origin is not None)
        else:
            values, origins = tuple(one.value for one in inputs), tuple(one._origin for one in inputs)
            needs, shapes = tuple(one is not None for one in origins), tuple(value.shape for value in values)
        context = Context(needs)
        result = cls(function.forward(context, *values, **attributes))
        if True in needs and _RECORDS.get():
            result._origin = Node(function, context, origins, shapes)
        return result


def apply(function: type[Function], /, *inputs: Variable, **attributes: Any) -> Variable:
    """Call a function of one's own: forward at once, backward when its gradient is asked for."""
    return Variable._apply(function, *inputs, **attributes)


def concat(variables: Sequence[Variable], axis: int = 0) -> Variable:
    """Return a copy of the variables one behind the other along an axis."""
    return Variable._apply(Concat, *variables, axis=axis)
