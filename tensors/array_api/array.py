"""The array object: a tensor, and whether its numbers stand for true and false."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from tensors.errors import TensorError, check
from tensors.tensor import Tensor

from .dtypes import VERSION, bool, dtype_of, float32, result_type

Numbers = builtins.bool | int | float


class Array:
    """A tensor of floating-point numbers, or one of 1 and 0, which stand for true and false."""

    __slots__ = ("_is_bool", "tensor")
    __hash__ = None  # type: ignore[assignment]  # == is taken element by element

    if TYPE_CHECKING:  # elementwise.py and reductions.py make them of the standard's functions
        __add__: Callable[[Array, Any], Array]
        __radd__: Callable[[Array, Any], Array]
        __sub__: Callable[[Array, Any], Array]
        __rsub__: Callable[[Array, Any], Array]
        __mul__: Callable[[Array, Any], Array]
        __rmul__: Callable[[Array, Any], Array]
        __truediv__: Callable[[Array, Any], Array]
        __rtruediv__: Callable[[Array, Any], Array]
        __pow__: Callable[[Array, Any], Array]
        __rpow__: Callable[[Array, Any], Array]
        __and__: Callable[[Array, Any], Array]
        __rand__: Callable[[Array, Any], Array]
        __or__: Callable[[Array, Any], Array]
        __ror__: Callable[[Array, Any], Array]
        __xor__: Callable[[Array, Any], Array]
        __rxor__: Callable[[Array, Any], Array]
        __matmul__: Callable[[Array, Any], Array]
        __rmatmul__: Callable[[Array, Any], Array]
        __lt__: Callable[[Array, Any], Array]
        __le__: Callable[[Array, Any], Array]
        __gt__: Callable[[Array, Any], Array]
        __ge__: Callable[[Array, Any], Array]
        __neg__: Callable[[Array], Array]
        __pos__: Callable[[Array], Array]
        __abs__: Callable[[Array], Array]
        __invert__: Callable[[Array], Array]

    def __init__(self, tensor: Tensor, is_bool: builtins.bool = False) -> None:
        self.tensor, self._is_bool = tensor, is_bool

    @property
    def dtype(self) -> Any:
        return bool if self._is_bool else self.tensor.dtype

    @property
    def device(self) -> str:
        return "cpu"

    @property
    def shape(self) -> tuple[int, ...]:
        return self.tensor.shape

    @property
    def ndim(self) -> int:
        return self.tensor.ndim

    @property
    def size(self) -> int:
        return self.tensor.size

    @property
    def T(self) -> Array:  # noqa: N802 (the standard's name)
        return self.with_tensor(self.tensor.T)

    @property
    def mT(self) -> Array:  # noqa: N802 (the standard's name)
        return self.with_tensor(self.tensor.mT)

    def with_tensor(self, tensor: Tensor) -> Array:
        """Return another tensor's array, of the same type."""
        return Array(tensor, self._is_bool)

    def as_type(self, dtype: Any) -> Array:
        """A copy in another type; what is not 0 is true."""
        dtype_of("astype", dtype)
        if dtype is bool:
            return Array(self.tensor != 0.0, True)
        array = self.tensor.copy().numpy()
        return Array(Tensor(array.astype(dtype, copy=False), self.tensor.ops))

    def numpy(self) -> np.ndarray[Any, Any]:
        """Return a NumPy array: of the same memory, but for true and false."""
        return self.tensor.numpy().astype(bool) if self._is_bool else self.tensor.numpy()

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        check(api_version in (None, VERSION), "__array_namespace__", f"version {VERSION}", api_version)
        return import_module(__package__)

    def to_device(self, device: Any, /, *, stream: None = None) -> Array:
        """This: all of them lie on the host."""
        check(device == "cpu" and stream is None, "to_device", "cpu, and no stream", (device, stream))
        return self

    def __repr__(self) -> str:
        return f"Array({self.numpy()!r})"

    def __getitem__(self, key: Any, /) -> Array:
        return self.with_tensor(self.tensor[key])

    def __setitem__(self, key: Any, value: Any, /) -> None:
        self.tensor[key] = self.lifted("__setitem__", value).tensor

    def __bool__(self) -> builtins.bool:
        return builtins.bool(self.tensor.item())

    def __float__(self) -> float:
        return self.tensor.item()

    def __int__(self) -> int:
        return int(self.tensor.item())

    def __complex__(self) -> complex:
        return complex(self.tensor.item())

    def __len__(self) -> int:
        return len(self.tensor)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: builtins.bool | None = None,
    ) -> Any:
        check(not self._is_bool, "__dlpack__", "floating-point numbers", "bool, whose memory is not of that type")
        return self.tensor.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.tensor.__dlpack_device__()

    def lifted(self, operation: str, other: Any) -> Array:
        """Another operand in this one's type: an array of it, or a number of Python of its kind."""
        if isinstance(other, Array):
            check(other.dtype is self.dtype, operation, f"numbers of {self.dtype}", other.dtype)
            return other
        fits = isinstance(other, builtins.bool) if self._is_bool else type(other) in (int, float)
        if not fits:
            raise TensorError(f"{operation}: expected an array or a number for {self.dtype}, got {other!r}")
        return Array(Tensor(np.full((), other, self.tensor.dtype), self.tensor.ops), self._is_bool)


def astype(x: Array, dtype: Any, /, *, copy: builtins.bool = True, device: Any = None) -> Array:
    """The numbers in another type: a copy, unless it is not asked for where the type is the same."""
    check(device in (None, "cpu"), "astype", "the device cpu", device)
    return x if not copy and x.dtype is dtype else x.as_type(dtype)


def promoted(operation: str, x: Any, y: Any) -> tuple[Array, Array]:
    """Two operands, of which one may be a number of Python, in the type that they come to."""
    if not isinstance(x, Array):
        check(isinstance(y, Array), operation, "at least one array", (x, y))
        return y.lifted(operation, x), y
    if not isinstance(y, Array):
        return x, x.lifted(operation, y)
    dtype = result_type(x, y)
    return tuple(a if a.dtype is dtype else a.as_type(dtype) for a in (x, y))  # type: ignore[return-value]


def as_bool(array: np.ndarray[Any, Any], ops: Any) -> Array:
    """An array of true and false."""
    return Array(Tensor(array.astype(float32), ops), True)


def floats(operation: str, x: Array) -> Tensor:
    """The tensor of an array of floating-point numbers."""
    check(isinstance(x, Array) and x.dtype is not bool, operation, "an array of floating-point numbers", _kind(x))
    return x.tensor


def bools(operation: str, x: Array) -> Tensor:
    """The tensor of an array of true and false."""
    check(isinstance(x, Array) and x.dtype is bool, operation, "an array of bool", _kind(x))
    return x.tensor


def _kind(x: Any) -> str:
    return str(getattr(x, "dtype", type(x).__name__))


Function = Callable[..., Array]
Shape = int | Sequence[int]
