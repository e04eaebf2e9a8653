"""A tensor: a storage, and where the elements lie in it."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

import reference
from reference.namespace import Ops

from . import layout as layouts
from .arithmetic import Arithmetic, Axis
from .errors import TensorError, check
from .layout import Layout, Shape, dense
from .numbers import MAPS, REDUCTIONS, ZIPS, number
from .storage import Storage, of_numpy

NEUTRAL = {"sum": 0.0, "product": 1.0, "maximum": -math.inf, "minimum": math.inf, "mean": 0.0}


def _whole(values: Sequence[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array(values, np.int64)


class Tensor(Arithmetic):
    """Floating-point numbers of any shape and strides; views share the storage, every copy is asked for.

    Tensor(array) shares a NumPy array's memory, whatever its strides. ops: the namespace that computes, the reference
    or a bindings.Library; tensors that meet in an operation have the same one and the same type of number. What is no
    array of NumPy's yet becomes one of float32. Raises TensorError for whole numbers, and strides of parts of elements.
    """

    __slots__ = ("_layout", "storage")
    __array_ufunc__ = None  # NumPy's operators leave theirs to this class

    def __init__(self, array: Any, ops: Ops = reference) -> None:
        given = np.asarray(array, None if isinstance(array, np.ndarray | np.generic) else np.float32)
        check(given.dtype.kind == "f", "Tensor", "floating-point numbers", given.dtype)
        memory, self._layout = of_numpy(given)
        self.storage = Storage(memory, ops)

    @classmethod
    def in_storage(cls, storage: Storage, layout: Layout) -> Self:
        """Return the tensor that lies so in a storage."""
        tensor = object.__new__(cls)
        tensor.storage, tensor._layout = storage, layout
        return tensor

    @property
    def layout(self) -> Layout:
        return self._layout

    @property
    def offset(self) -> int:
        """Where the first element lies in the storage."""
        return self._layout.offset

    @property
    def dtype(self) -> Any:
        return self.storage.array.dtype

    @property
    def device(self) -> str:
        return "cpu"

    @property
    def ops(self) -> Ops:
        return self.storage.ops

    def __repr__(self) -> str:
        return f"Tensor(shape={self.shape}, strides={self.strides}, dtype={self.dtype})"

    def viewed(self, change: Callable[[Layout], Layout]) -> Self:
        """Return the tensor of the same storage that lies as `change` makes of this one's layout."""
        return self.in_storage(self.storage, change(self._layout))

    _view = viewed

    def broadcast_to(self, shape: int | Sequence[int]) -> Self:
        return self.in_storage(self.storage, layouts.broadcast(self._layout, shape))

    def copy(self) -> Self:
        """A dense copy in a storage of its own."""
        return self.map("identity")

    def contiguous(self) -> Self:
        """This, where it is dense; else a dense copy."""
        return self if self._layout.is_dense else self.copy()

    def __setitem__(self, key: Any, value: Any) -> None:
        """Write into the storage, for every view to see; value is broadcast.

        Raises ValueError where two elements lie at one place.
        """
        target, source = self[key], self._lift(value)
        if source.storage.may_share(target.storage):
            source = source.copy()  # what is read has to be read before it is written
        into, out = target._layout, layouts.broadcast(source._layout, target.shape)
        strides = (_whole(out.strides), _whole(into.strides), out.offset, into.offset)
        self.storage.write(
            self.ops.map_strided(
                source.storage.array, self.storage.array, _whole(into.shape), *strides, MAPS["identity"]
            )
        )

    def map(self, function: str) -> Self:
        f, x, out = number("map", MAPS, function), self._layout, dense(self.shape)
        strides = (_whole(x.strides), _whole(out.strides), x.offset, 0)
        return self._new(
            self.ops.map_strided(self.storage.array, self._places(out.size), _whole(x.shape), *strides, f), out
        )

    def zip(self, function: str, other: Any) -> Self:
        f, b = number("zip", ZIPS, function), self._lift(other)
        shape = layouts.common_shape(function, self.shape, b.shape)
        x, y, out = layouts.broadcast(self._layout, shape), layouts.broadcast(b._layout, shape), dense(shape)
        strides = (_whole(x.strides), _whole(y.strides), _whole(out.strides), x.offset, y.offset, 0)
        places = self._places(out.size)
        return self._new(
            self.ops.zip_strided(self.storage.array, b.storage.array, places, _whole(shape), *strides, f), out
        )

    def reduce(self, function: str, axis: Axis = None, keepdims: bool = False, start: float | None = None) -> Self:
        f = number("reduce", REDUCTIONS, function)
        gone = layouts.axes_of(function, axis, self.ndim)
        count = math.prod(self.shape[k] for k in gone)
        has_result = count or start is not None or math.isfinite(NEUTRAL[function])
        check(has_result, function, "a start value, or elements along the axes", f"none: shape {self.shape}")
        kept = [k for k in range(self.ndim) if k not in gone]
        x, out = layouts.permuted(self._layout, [*kept, *gone]), dense(tuple(self.shape[k] for k in kept))
        strides = (_whole(x.strides), _whole(out.strides), x.offset, 0)
        first = NEUTRAL[function] if start is None else float(start)
        places = self._places(out.size)
        reduced = self.ops.reduce_strided(self.storage.array, places, _whole(x.shape), *strides, f, first)
        shape = tuple(1 if k in gone else n for k, n in enumerate(self.shape)) if keepdims else out.shape
        return self._new(reduced, dense(shape))

    def _product(self, other: Self) -> Self:
        b = self._lift(other)
        batch = layouts.common_shape("matmul", self.shape[:-2], b.shape[:-2])
        (m, k), n = self.shape[-2:], b.shape[-1]
        x = layouts.broadcast(self._layout, (*batch, m, k))
        y = layouts.broadcast(b._layout, (*batch, k, n))
        of_x = (*x.strides[:-1], 0, x.strides[-1])
        of_y = (*y.strides[:-2], 0, y.strides[-1], y.strides[-2])
        out = dense((*batch, m, n))
        strides = (_whole(of_x), _whole(of_y), _whole(out.strides), x.offset, y.offset, 0)
        shape, places = _whole((*batch, m, n, k)), self._places(out.size)
        return self._new(self.ops.matmul_strided(self.storage.array, b.storage.array, places, shape, *strides), out)

    def _places(self, size: int) -> Any:
        return np.zeros(size, self.dtype)

    def _new(self, array: Any, layout: Layout) -> Self:
        return self.in_storage(Storage(array, self.ops), layout)

    def _lift(self, other: Any) -> Self:
        if isinstance(other, type(self)):
            check(other.ops is self.ops, "Tensor", f"operations of {self.ops!r}", f"{other.ops!r}")
            check(other.dtype == self.dtype, "Tensor", f"numbers of {self.dtype}, as the other has", other.dtype)
            return other
        if not isinstance(other, numbers.Real):
            raise TensorError(f"Tensor: expected a tensor or a number, got {type(other).__name__}")
        return self._new(np.full(1, other, self.dtype), dense(()))

    def sum_to(self, shape: Shape) -> Self:
        """The sum over the axes along which `shape` was broadcast to this one's: the gradient of broadcasting."""
        new = self.ndim - len(shape)
        again = [*range(new), *(new + k for k, n in enumerate(shape) if n == 1 and self.shape[new + k] != 1)]
        return self.sum(again).reshape(shape) if again else self

    def numpy(self) -> np.ndarray[Any, Any]:
        """Return a NumPy array of the same memory and strides."""
        array, layout = self.storage.array, self._layout
        if not layout.size:
            return np.zeros(layout.shape, self.dtype)
        strides = tuple(stride * array.itemsize for stride in layout.strides)
        found: np.ndarray[Any, Any] = np.lib.stride_tricks.as_strided(array[layout.offset :], layout.shape, strides)
        return found

    def item(self) -> float:
        """Return the one element as a number."""
        check(self.size == 1, "item", "one element", f"shape {self.shape}")
        return float(self.numpy().reshape(())[()])

    __float__ = item

    def __dlpack__(self, **asked: Any) -> Any:
        """Return the same memory as a DLPack capsule; asked: as the array API has it."""
        return self.numpy().__dlpack__(**asked)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.numpy().__dlpack_device__()
