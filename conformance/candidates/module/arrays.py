"""Arrays between the judge's memory and a framework: by DLPack, without a copy where the framework can do without."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bindings import LibraryError
from bindings.arrays import dlpack
from bindings.arrays.array import FLAGS

NUMPY = "numpy"
_SPACES = {"jax": "jax.numpy"}  # where the function from_dlpack of a package stands, if not in the package
_HERE = (dlpack.CPU, 0)

Take = Callable[[NDArray[Any]], Any]


class ForeignArrayError(ValueError):
    """An array that a function returned cannot be read; the message says why."""


def taking(framework: str) -> Take:
    """Return what makes a framework's array of one of NumPy's.  Raises LibraryError for one that is not known."""
    if framework == NUMPY:
        return lambda array: array
    name = _SPACES.get(framework, framework)
    try:
        from_dlpack = importlib.import_module(name).from_dlpack
    except ImportError as error:
        raise LibraryError(f"framework {framework}: expected one that is installed here, got: {error}") from None
    except AttributeError:
        known = f"numpy, torch, jax or another whose module has from_dlpack, got {framework}"
        raise LibraryError(f"framework: expected {known}") from None
    return lambda array: from_dlpack(_Shown(array))


class _Shown:
    """Shows an array of NumPy's to other frameworks, also one of bfloat16, which NumPy itself cannot show."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.held = array
        self.shape, self.ndim, self.dtype, self.itemsize = array.shape, array.ndim, array.dtype, array.itemsize
        self.address = array.ctypes.data
        self.flags = FLAGS[True, True]

    def __dlpack_device__(self) -> tuple[int, int]:
        return _HERE

    def __dlpack__(self, **asked: Any) -> Any:
        """Return a capsule of DLPack's form before 1.0, which every framework takes."""
        return dlpack.export(self, _HERE)


class _Lent:
    """Shows memory that another framework owns to NumPy, and keeps it alive: bytes, as bfloat16 is no word to it."""

    def __init__(self, taken: dlpack.Taken, itemsize: int) -> None:
        self.owner = taken.owner
        strides = None if taken.strides is None else tuple(stride * itemsize for stride in taken.strides)
        self.__array_interface__ = {
            "shape": taken.shape,
            "typestr": f"|V{itemsize}",
            "data": (taken.address, False),
            "strides": strides,
            "version": 3,
        }


def as_numpy(value: Any) -> NDArray[Any]:
    """Return what a function gave as an array of NumPy's, which may share its memory.  Raises ForeignArrayError."""
    if isinstance(value, np.ndarray | np.generic):
        return np.asarray(value)
    if getattr(value, "requires_grad", False):
        value = value.detach()
    if hasattr(value, "__dlpack__"):
        return _taken(value)
    if hasattr(value, "__array__"):
        return np.asarray(value)
    raise ForeignArrayError(type(value).__name__)


def _taken(value: Any) -> NDArray[Any]:
    kind, _ = value.__dlpack_device__()
    if int(kind) != dlpack.CPU:
        raise ForeignArrayError(f"an array on {dlpack.NAMES.get(int(kind), f'a device of type {int(kind)}')}")
    taken = dlpack.consume(value.__dlpack__())
    if taken.dtype is None:
        raise ForeignArrayError(f"an array of {taken.spelled}")
    if 0 in taken.shape:
        return np.empty(taken.shape, taken.dtype)
    return np.asarray(_Lent(taken, taken.dtype.itemsize)).view(taken.dtype)
