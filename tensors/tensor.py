"""A tensor: a storage, and where the elements lie in it."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

import reference
from bindings.calls.prepared import held
from reference.namespace import Ops

from . import calls
from . import layout as layouts
from .arithmetic import Arithmetic, Axis
from .errors import TensorError, check
from .layout import Layout, Shape, dense
from .storage import Storage, of_numpy

ONE = dense(())
_new = object.__new__


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
        return self.storage.plans.dtype

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
        storage, x, y = self.storage, source._layout, target._layout
        plan, array = storage.plans.find(how := ("written", x, y)), storage.array
        is_plain = storage.held is not None and array.flags.writeable
        if plan is not None and is_plain and plan.call(source.storage.held, storage.held):
            storage.version += 1
            return
        args = (source.storage.array, array, *calls.copied(layouts.broadcast(x, y.shape), y))
        storage.write(storage.plans.run_into(self.ops.map_strided, how, args, y))

    def map(self, function: str) -> Self:
        storage, x = self.storage, self._layout
        plan = storage.plans.find(key := (function, x))
        if plan is not None and (made := plan.call(storage.held)) is not None:
            return self._made(made, plan.layout)
        return self._run("map_strided", key, (storage,), *calls.mapped(function, x))

    def zip(self, function: str, other: Any) -> Self:
        storage = self.storage
        b = other if type(other) is type(self) and other.storage.plans is storage.plans else self._lift(other)
        second, x, y = b.storage, self._layout, b._layout
        plan = storage.plans.find(key := (function, x, y))
        if plan is not None and (made := plan.call(storage.held, second.held)) is not None:
            return self._made(made, plan.layout)
        return self._run("zip_strided", key, (storage, second), *calls.zipped(function, x, y))

    def reduce(self, function: str, axis: Axis = None, keepdims: bool = False, start: float | None = None) -> Self:
        storage, x = self.storage, self._layout
        axes = axis if axis is None or type(axis) is int else layouts.axes_of(function, axis, self.ndim)
        first = None if start is None else float(start).hex()  # 0.0 and -0.0 are equal
        plan = storage.plans.find(key := (function, x, axes, not keepdims, first))
        if plan is not None and (made := plan.call(storage.held)) is not None:
            return self._made(made, plan.layout)
        return self._run("reduce_strided", key, (storage,), *calls.reduced(function, x, axes, keepdims, start))

    def _product(self, other: Self) -> Self:
        b = self._lift(other)
        storage, second, x, y = self.storage, b.storage, self._layout, b._layout
        plan = storage.plans.find(key := (x, y))
        if plan is not None and (made := plan.call(storage.held, second.held)) is not None:
            return self._made(made, plan.layout)
        return self._run("matmul_strided", key, (storage, second), *calls.multiplied(x, y))

    def _run(self, operation: str, key: Any, inputs: tuple[Storage, ...], rest: calls.Rest, out: Layout) -> Self:
        """Call an operation that no plan is there for, or that does not go by it."""
        args = (*(storage.array for storage in inputs), np.zeros(out.size, self.dtype), *rest)
        array = self.storage.plans.run(getattr(self.ops, operation), key, args, out)
        return self._made(held(array), out, array)

    def _made(self, memory: Any, layout: Layout, array: Any = None) -> Self:
        """Return the tensor that lies so in a new array; memory: the array as it is held, where it is."""
        tensor, storage, mine = _new(type(self)), _new(Storage), self.storage
        storage._array, storage.held = array, memory
        storage.ops, storage.plans, storage.version = mine.ops, mine.plans, 0
        tensor.storage, tensor._layout = storage, layout
        return tensor

    def _lift(self, other: Any) -> Self:
        mine = self.storage
        if isinstance(other, type(self)):
            its = other.storage
            if its.ops is not mine.ops:
                raise TensorError(f"Tensor: expected operations of {mine.ops!r}, got {its.ops!r}")
            if its.plans is not mine.plans:
                check(its.dtype == mine.dtype, "Tensor", f"numbers of {mine.dtype}, as the other has", its.dtype)
            return other
        if type(other) is float or type(other) is int:
            array, memory = mine.plans.number(other)
            return self._made(memory, ONE, array)
        if not isinstance(other, numbers.Real):
            raise TensorError(f"Tensor: expected a tensor or a number, got {type(other).__name__}")
        array = np.full(1, other, self.dtype)
        return self._made(held(array), ONE, array)

    def sum_to(self, shape: Shape) -> Self:
        """The sum over the axes along which `shape` was broadcast to this one's: the gradient of broadcasting."""
        if self._layout.shape == shape:
            return self
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
