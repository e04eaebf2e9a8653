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
from tensors.layout import Layout
from tensors.tensor import Tensor

from .backward import backward
from .function import Call, Context, Function, Leaf, Node
from .maps import Map
from .reductions import MatMul, Reduce
from .views import Broadcast, Concat, Contiguous, View
from .zips import GRADIENTS, STEPS, Zip

_RECORDS = ContextVar("_RECORDS", default=True)
_records = _RECORDS.get
_new = object.__new__


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
        x, origin = self.value, self._origin
        result = _new(type(self))
        result.value, result._origin = x.map(function), None
        if origin is not None and _records():
            result._origin = Map((origin,), function, x, result.value)
        return result

    def zip(self, function: str, other: Any) -> Self:
        second = other if type(other) is type(self) else self._lift(other)
        (a, for_a), (b, for_b) = (self.value, self._origin), (second.value, second._origin)
        is_recorded = (for_a is not None or for_b is not None) and function not in STEPS and _records()
        if is_recorded and function not in GRADIENTS:
            raise TapeError(f"{function}: expected a function with a gradient, {', '.join(GRADIENTS)}, on the tape")
        result = _new(type(self))
        result.value, result._origin = a.zip(function, b), None
        if is_recorded:
            result._origin = Zip((for_a, for_b), function, a, b, result.value)
        return result

    def reduce(self, function: str, axis: Axis = None, keepdims: bool = False, start: float | None = None) -> Self:
        return self._apply(Reduce, self, function=function, axis=axis, keepdims=keepdims, start=start)

    def broadcast_to(self, shape: int | Sequence[int]) -> Self:
        return self._apply(Broadcast, self, shape=shape)

    def contiguous(self) -> Self:
        """This, where it is dense; else a dense copy."""
        return self._apply(Contiguous, self)

    def _view(self, change: Callable[[Layout], Layout]) -> Self:
        x, origin = self.value, self._origin
        result = _new(type(self))
        result.value, result._origin = x.viewed(change), None
        if origin is not None and _records():
            result._origin = View((origin,), change, x._layout.shape)
        return result

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
        values, origins = tuple([one.value for one in inputs]), tuple([one._origin for one in inputs])
        context = Context(tuple([one is not None for one in origins]))
        result = cls(function.forward(context, *values, **attributes))
        if True in context.needs and _records():
            result._origin = Call(origins, function, context, [value._layout.shape for value in values])
        return result


def apply(function: type[Function], /, *inputs: Variable, **attributes: Any) -> Variable:
    """Call a function of one's own: forward at once, backward when its gradient is asked for."""
    return Variable._apply(function, *inputs, **attributes)


def concat(variables: Sequence[Variable], axis: int = 0) -> Variable:
    """Return a copy of the variables one behind the other along an axis."""
    return Variable._apply(Concat, *variables, axis=axis)
