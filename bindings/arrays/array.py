"""An array in a library's memory: where it lies, what it holds, and who owns it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from bindings.errors import ArgumentError, ArgumentTypeError
from bindings.shared_object.foreign import pointer

from . import dlpack
from .home import Home

_READABLE, _WRITABLE = 0x0101, 0x0501  # bits of ndarray.flags.num: dense and aligned; the same and writable


class Flags:
    """What ndarray.flags says of an array, of one that is always dense."""

    c_contiguous = True

    def __init__(self, aligned: bool, writeable: bool) -> None:
        self.aligned, self.writeable = aligned, writeable
        self.num = (_WRITABLE if writeable else _READABLE) if aligned else 0


FLAGS = {(aligned, writeable): Flags(aligned, writeable) for aligned in (False, True) for writeable in (False, True)}


class DeviceArray:
    """A dense row-major array where a library computes, given to its operations and returned by them.

    It has an ndarray's shape, dtype, ndim, size, nbytes, reshape, and views along its first axis; no arithmetic, which
    is what operations are for, and no look at its values but `to_host()`, which waits for them, as do float() and int()
    of an array of one.  NumPy's zeros_like, array and asarray make such arrays beside one (like=).  On a build that
    computes on host memory NumPy takes it as it is, without a copy; on a device `__dlpack__` and
    `__cuda_array_interface__` give it to other libraries.  It owns its memory together with all views of it.
    """

    __slots__ = ("__weakref__", "_pointer", "address", "dtype", "flags", "memory", "nbytes", "owner", "shape", "size")
    __array_ufunc__ = None  # a + b of a NumPy array and this one is a TypeError, not an array of objects

    def __init__(
        self,
        memory: Home,
        address: int,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        owner: Any,
        writeable: bool = True,
    ) -> None:
        self.memory, self.address, self.shape, self.dtype, self.owner = memory, address, shape, dtype, owner
        self.size = prod(shape)
        self.nbytes = self.size * dtype.itemsize
        self.flags = FLAGS[address % dtype.alignment == 0, writeable]
        self._pointer: Any = None

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def pointer(self) -> Any:
        """The address as an entry of a library takes it."""
        if self._pointer is None:
            self._pointer = pointer(self.address)
        return self._pointer

    def _view(self, offset: int, shape: tuple[int, ...]) -> DeviceArray:
        at = self.address + offset * self.itemsize
        return DeviceArray(self.memory, at, shape, self.dtype, self.owner, self.flags.writeable)

    def unowned(self) -> DeviceArray:
        """Return a view that does not keep the memory alive."""
        return DeviceArray(self.memory, self.address, self.shape, self.dtype, None, self.flags.writeable)

    def reshape(self, *shape: Any) -> DeviceArray:
        """Return a view of another shape; one length may be -1."""
        asked = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], Sequence) else shape
        known = prod(length for length in asked if length != -1)
        lengths = [self.size // known if length == -1 and known else length for length in asked]
        if prod(lengths) != self.size or min(lengths, default=0) < 0 or asked.count(-1) > 1:
            raise ArgumentError("reshape", "shape", f"{self.size} elements, as in {self.shape}", str(asked))
        return self._view(0, tuple(lengths))

    def __getitem__(self, key: int | slice) -> DeviceArray:
        """Return a view of one entry of the first axis, or of several that lie side by side."""
        if not self.shape:
            raise IndexError("DeviceArray: expected an axis to index, got shape ()")
        length, inner = self.shape[0], self.shape[1:]
        row = prod(inner)
        if isinstance(key, slice):
            start, stop, step = key.indices(length)
            if step == 1:
                return self._view(start * row, (max(0, stop - start), *inner))
        elif isinstance(key, int | np.integer):
            if not -length <= key < length:
                raise IndexError(f"DeviceArray: expected an index from {-length} to {length - 1}, got {key}")
            return self._view(int(key) % length * row, inner)
        expected = "a whole number or a slice of step 1, of the first axis"
        raise ArgumentTypeError("DeviceArray", "index", expected, repr(key))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("DeviceArray: an array of shape () has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[DeviceArray]:
        return (self[index] for index in range(len(self)))

    def __bool__(self) -> bool:
        raise TypeError("DeviceArray: its values lie where the library computes; to_host() waits for them")

    def __float__(self) -> float:
        """Wait for the only value."""
        return float(self._only())

    def __int__(self) -> int:
        """Wait for the only value."""
        return int(self._only())

    def _only(self) -> Any:
        if self.size != 1:
            raise TypeError(f"DeviceArray: only one value is a number, got shape {self.shape}")
        return self.to_host().reshape(())[()]

    def to_host(self) -> Any:
        """Wait for the values, and return them as a NumPy array: a copy, on host memory the array itself."""
        return self.memory.to_host(self)

    def copy_from(self, source: Any) -> None:
        """Overwrite the values with those of a host array or DeviceArray of the same shape and type."""
        self.memory.overwrite(self, source)

    def __repr__(self) -> str:
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype}, on {self.memory.space.name})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """On host memory a NumPy array of the same memory."""
        if self.memory.space.on_device:
            raise TypeError(f"DeviceArray: lies on {self.memory.space.name}, where NumPy cannot read; use to_host()")
        return np.array(self.to_host(), dtype, copy=copy)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """What makes arrays makes them here: zeros_like, and array and asarray with like=. Operations compute."""
        if function is np.zeros_like and len(args) == 1 and not kwargs:
            return self.memory.zeros(self.shape, self.dtype)
        if function in (np.array, np.asarray):
            return self.memory.array(function(*args, **kwargs))
        message = f"numpy.{function.__name__}: no function of a DeviceArray; operations compute, to_host() copies"
        raise TypeError(message)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """How CUDA libraries in Python take it without a copy (version 3 of the interface)."""
        if self.memory.device[0] != dlpack.CUDA:
            raise AttributeError(f"DeviceArray: lies on {self.memory.space.name}, not in memory of CUDA")
        stream = self.memory.stream or 1  # 0 is refused by the interface: 1 is the default stream
        data = (self.address, not self.flags.writeable)
        return {"shape": self.shape, "typestr": self.dtype.str, "data": data, "version": 3, "stream": stream}

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's type and number of the device."""
        return self.memory.device

    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None
    ) -> Any:
        """Return a capsule of DLPack's form before 1.0; the work on `stream` waits for what was asked of the array."""
        if dl_device is not None and tuple(dl_device) != self.memory.device:
            raise BufferError(f"__dlpack__: dl_device: expected {self.memory.device}, where it lies, got {dl_device}")
        shown = self
        if copy:
            shown = self.memory.empty(self.shape, self.dtype)
            shown.copy_from(self)
        self.memory.before(stream)
        return dlpack.export(shown, self.memory.device)


class _HostView:
    """Shows a DeviceArray on host memory to NumPy, and keeps it alive."""

    def __init__(self, array: DeviceArray) -> None:
        self._array = array
        data = (array.address, not array.flags.writeable)
        self.__array_interface__ = {"shape": (array.nbytes,), "typestr": "|u1", "data": data, "version": 3}


def on_host(array: DeviceArray) -> Any:
    """Return a NumPy array of the same memory, which it keeps alive: bytes first, as bfloat16 is no word to NumPy."""
    return np.asarray(_HostView(array)).view(array.dtype).reshape(array.shape)
