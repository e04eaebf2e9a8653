"""What can be written with tensors, on the tape and off it: operators, functions and views by the array API's names.

A class that inherits it says what the few abstract methods do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Self

from . import layout as layouts
from .changes import Change
from .errors import TensorError, check
from .indexing import indexed
from .layout import Layout, Shape
from .reshaping import reshaped

Axis = int | Sequence[int] | None
_LAST_TWO = Change(layouts.exchanged, (-1, -2))


class Views(ABC):
    """Views: they share their storage with what they are taken of."""

    __slots__ = ()

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """Where the elements lie."""

    @abstractmethod
    def _view(self, change: Callable[[Layout], Layout]) -> Self:
        """The elements that a changed layout names, each at most once."""

    @abstractmethod
    def broadcast_to(self, shape: int | Sequence[int]) -> Self:
        """The same along new axes in front and axes of length 1, by strides of 0."""

    @property
    def shape(self) -> Shape:
        return self.layout.shape

    @property
    def strides(self) -> Shape:
        """What one step along each axis is, in elements."""
        return self.layout.strides

    @property
    def ndim(self) -> int:
        return len(self.layout.shape)

    @property
    def size(self) -> int:
        return self.layout.size

    def __len__(self) -> int:
        check(self.ndim, "len", "an axis", "none: shape ()")
        return self.shape[0]

    def __getitem__(self, key: Any) -> Self:
        return self._view(Change(indexed, key))

    def __iter__(self) -> Any:
        return (self[n] for n in range(len(self)))

    def permute_dims(self, axes: Sequence[int]) -> Self:
        """Axis k is axis axes[k] of this."""
        return self._view(Change(layouts.permuted, axes))

    def swapaxes(self, first: int, second: int) -> Self:
        """The two axes in each other's place."""
        return self._view(Change(layouts.exchanged, (first, second)))

    @property
    def mT(self) -> Self:  # noqa: N802 (the array API's name)
        """The last two axes in each other's place."""
        if self.ndim < 2:
            check(False, "mT", "at least 2 axes", f"shape {self.shape}")
        return self._view(_LAST_TWO)

    @property
    def T(self) -> Self:  # noqa: N802 (the array API's name)
        """A matrix's axes in each other's place."""
        if self.ndim != 2:
            check(False, "T", "2 axes", f"shape {self.shape}")
        return self._view(_LAST_TWO)

    def reshape(self, shape: int | Sequence[int]) -> Self:
        """The same elements in the same order; raises TensorError where only a copy could hold them so."""
        return self._view(Change(reshaped, shape))

    def squeeze(self, axis: int | Sequence[int]) -> Self:
        """Without these axes of length 1."""
        return self._view(Change(layouts.squeezed, axis))

    def expand_dims(self, axis: int) -> Self:
        """With an axis of length 1 at this place."""
        return self._view(Change(layouts.unsqueezed, axis))

    def flip(self, axis: Axis = None) -> Self:
        """These axes turned about; None: all."""
        return self._view(Change(layouts.flipped, axis))


class Arithmetic(Views):
    """Operators and functions; each gives a new, dense tensor."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]  # == is taken element by element

    @abstractmethod
    def map(self, function: str) -> Self:
        """f(x) of every element; function: a name of ASSAYER_MAP_..., in small letters."""

    @abstractmethod
    def zip(self, function: str, other: Any) -> Self:
        """f(x, y) of every two elements, broadcast; function: a name of ASSAYER_ZIP_...; other may be a number."""

    @abstractmethod
    def reduce(self, function: str, axis: Axis = None, keepdims: bool = False, start: float | None = None) -> Self:
        """start joined with all along these axes; None: all axes, and the start that changes nothing.

        function: a name of ASSAYER_REDUCE_... Raises TensorError for the largest or smallest of nothing without start.
        """

    @abstractmethod
    def _product(self, other: Self) -> Self:
        """The product of matrices, of which each has at least 2 axes."""

    @abstractmethod
    def _lift(self, other: Any) -> Self:
        """A number as one of these."""

    def __matmul__(self, other: Self) -> Self:
        """The product of matrices in the last two axes, as NumPy's: axes before are broadcast, one axis is a vector."""
        shape, its = self.layout.shape, other.layout.shape
        if not (shape and its and shape[-1] == its[max(len(its) - 2, 0)]):
            check(False, "matmul", "(..., m, k) and (..., k, n)", f"{shape} and {its}")
        left = self.expand_dims(0) if len(shape) == 1 else self
        right = other.expand_dims(1) if len(its) == 1 else other
        product = left._product(right)
        gone = (-2,) * (len(shape) == 1) + (-1,) * (len(its) == 1)
        return product.squeeze(gone) if gone else product

    def __add__(self, other: Any) -> Self:
        return self.zip("add", other)

    def __sub__(self, other: Any) -> Self:
        return self.zip("subtract", other)

    def __mul__(self, other: Any) -> Self:
        return self.zip("multiply", other)

    def __truediv__(self, other: Any) -> Self:
        return self.zip("divide", other)

    def __pow__(self, other: Any) -> Self:
        return self.zip("power", other)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: Any) -> Self:
        return self._lift(other).zip("subtract", self)

    def __rtruediv__(self, other: Any) -> Self:
        return self._lift(other).zip("divide", self)

    def __rpow__(self, other: Any) -> Self:
        return self._lift(other).zip("power", self)

    def __neg__(self) -> Self:
        return self.map("negative")

    def __abs__(self) -> Self:
        return self.map("absolute")

    def __lt__(self, other: Any) -> Self:
        return self.zip("less", other)

    def __le__(self, other: Any) -> Self:
        return self.zip("less_equal", other)

    def __gt__(self, other: Any) -> Self:
        return self._lift(other).zip("less", self)

    def __ge__(self, other: Any) -> Self:
        return self._lift(other).zip("less_equal", self)

    def __eq__(self, other: Any) -> Self:  # type: ignore[override]
        return self.zip("equal", other)

    def __ne__(self, other: Any) -> Self:  # type: ignore[override]
        return self.zip("not_equal", other)

    def maximum(self, other: Any) -> Self:
        """The larger of every two; NaN where either is."""
        return self.zip("maximum", other)

    def minimum(self, other: Any) -> Self:
        """The smaller of every two; NaN where either is."""
        return self.zip("minimum", other)

    def sum(self, axis: Axis = None, keepdims: bool = False) -> Self:
        return self.reduce("sum", axis, keepdims)

    def prod(self, axis: Axis = None, keepdims: bool = False) -> Self:
        return self.reduce("product", axis, keepdims)

    def mean(self, axis: Axis = None, keepdims: bool = False) -> Self:
        return self.reduce("mean", axis, keepdims)

    def max(self, axis: Axis = None, keepdims: bool = False) -> Self:
        return self.reduce("maximum", axis, keepdims)

    def min(self, axis: Axis = None, keepdims: bool = False) -> Self:
        return self.reduce("minimum", axis, keepdims)

    def __bool__(self) -> bool:
        raise TensorError("bool: expected a number, such as item() gives, got a tensor")
