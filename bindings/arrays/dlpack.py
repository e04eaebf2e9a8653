"""DLPack: arrays of other libraries without a copy, as a capsule around a described address.

Layout and rules: dlpack.h of DLPack 0.8 and the Python array API standard; the versioned form of 1.0 is not asked for.
"""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numpy as np

from bindings.header.elements import ELEMENTS

CPU, CUDA, OTHER = 1, 2, 12  # kDLCPU, kDLCUDA, kDLExtDev: an address that is none of the first two
NAMES = {
    CPU: "the CPU",
    CUDA: "a CUDA device",
    3: "pinned memory of CUDA",
    8: "Metal",
    10: "a ROCm device",
    13: "managed memory of CUDA",
}
_KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat"}
_NAME, _USED = b"dltensor", b"used_dltensor"


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _DELETER))


def _api(name: str, result: Any, *arguments: Any) -> Any:
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


# An object that is being destroyed must not be counted, so its destructor takes it as an address.
_DESTRUCTOR = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_new = _api("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _DESTRUCTOR)
_is_valid = _api("PyCapsule_IsValid", ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)
_address = _api("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)
_rename = _api("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)

_given: dict[int, Any] = {}  # what a consumer may still use, by the address it was described at


def _let_go(address: int) -> None:
    _given.pop(address, None)


def _end_of_capsule(capsule: int) -> None:
    if _is_valid(capsule, _NAME):  # nobody took it
        _let_go(_address(capsule, _NAME))


_delete, _destroy = _DELETER(_let_go), _DESTRUCTOR(_end_of_capsule)


def export(array: Any, device: tuple[int, int]) -> Any:
    """Return a capsule of a DeviceArray, which lives until the consumer lets it go."""
    if not array.flags.writeable:
        raise BufferError(
            "__dlpack__: expected an array that can be written, got a read-only one, which DLPack cannot tell"
        )
    name = array.dtype.name
    code = next(code for code, kind in _KINDS.items() if name.startswith(kind))
    shape = (ctypes.c_int64 * array.ndim)(*array.shape)
    tensor = _Tensor(array.address, *device, array.ndim, code, 8 * array.itemsize, 1, shape, None, 0)
    managed = _Managed(tensor, None, _delete)
    address = ctypes.addressof(managed)
    _given[address] = managed, shape, array
    return _new(address, _NAME, _destroy)


class Taken(NamedTuple):
    """What a capsule describes; owner keeps it alive. strides count elements, None where it is dense."""

    address: int
    device: tuple[int, int]
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    dtype: np.dtype[Any] | None
    spelled: str  # the type's name, known or not
    owner: Any


class _Owner:
    """Lets go of a producer's array at its own end."""

    def __init__(self, managed: _Managed) -> None:
        self._managed = managed

    def __del__(self) -> None:
        if self._managed.deleter:
            self._managed.deleter(ctypes.addressof(self._managed))


def consume(capsule: Any) -> Taken:
    """Take over what a capsule holds; it cannot be taken again."""
    if not _is_valid(id(capsule), _NAME):
        raise BufferError("from DLPack: expected a capsule named dltensor that was not taken yet")
    managed = _Managed.from_address(_address(id(capsule), _NAME))
    _rename(capsule, _USED)
    tensor, dimensions = managed.tensor, range(managed.tensor.ndim)
    spelled = f"{_KINDS.get(tensor.code, f'kind{tensor.code}_')}{tensor.bits}"
    known = tensor.lanes == 1 and spelled in ELEMENTS
    return Taken(
        (tensor.data or 0) + tensor.byte_offset,
        (tensor.device_type, tensor.device_id),
        tuple(tensor.shape[axis] for axis in dimensions),
        tuple(tensor.strides[axis] for axis in dimensions) if tensor.strides else None,
        ELEMENTS[spelled].dtype if known else None,
        spelled if tensor.lanes == 1 else f"{spelled} x {tensor.lanes}",
        _Owner(managed),
    )
