"""Arrays of other libraries as DeviceArrays, without a copy; what cannot be taken is said by name."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from bindings.errors import ArgumentError, ArgumentTypeError
from bindings.header.elements import ELEMENTS

from . import dlpack
from .array import DeviceArray
from .home import Home


def check_host(source: Any) -> None:
    """Raise where a NumPy array is none that a library takes."""
    if not _known(source.dtype):
        raise _refused("an array of numbers that the header knows", str(source.dtype))
    if not source.flags.c_contiguous:
        raise _refused("a dense row-major array", f"strides {source.strides} for shape {source.shape}")
    if not source.flags.aligned:
        raise _refused(f"an array aligned to {source.itemsize} bytes", f"address {source.ctypes.data:#x}")


def foreign(memory: Home, source: Any) -> DeviceArray:
    """Return another library's array, which stays its own: both see what the other writes."""
    if hasattr(source, "__dlpack__") and hasattr(source, "__dlpack_device__"):
        return _from_dlpack(memory, source)
    if hasattr(source, "__cuda_array_interface__"):
        return _from_cuda(memory, source.__cuda_array_interface__, source)
    expected = "a NumPy array, a DeviceArray, or one with DLPack or the CUDA array interface"
    raise ArgumentTypeError("array", "source", expected, type(source).__name__)


def _from_dlpack(memory: Home, source: Any) -> DeviceArray:
    kind, number = source.__dlpack_device__()
    _check_device(memory, (int(kind), int(number)))
    on_device = memory.space.on_device
    capsule = source.__dlpack__(stream=memory.stream or 1) if on_device else source.__dlpack__()
    taken = dlpack.consume(capsule)
    if taken.dtype is None:
        raise _refused("an array of numbers that the header knows", taken.spelled)
    if taken.strides is not None:
        _check_dense(taken.shape, taken.strides)
    return DeviceArray(memory, taken.address, taken.shape, taken.dtype, taken.owner)


def _from_cuda(memory: Home, interface: dict[str, Any], source: Any) -> DeviceArray:
    """By version 3 of the interface; the work to come waits for the producer's stream where it names one."""
    _check_device(memory, (dlpack.CUDA, 0))
    dtype, shape = np.dtype(interface["typestr"]), tuple(interface["shape"])
    address, read_only = interface["data"]
    if not _known(dtype):
        raise _refused("an array of numbers that the header knows", str(dtype))
    if interface.get("mask") is not None:
        raise _refused("an array without a mask", "one with a mask")
    if (strides := interface.get("strides")) is not None:
        _check_dense(shape, tuple(stride // dtype.itemsize for stride in strides))
    if (stream := interface.get("stream")) is not None:
        memory.space.order(int(stream), memory.stream)
    return DeviceArray(memory, int(address), shape, dtype, source, not read_only)


def _check_device(memory: Home, device: tuple[int, int]) -> None:
    if device != memory.device:
        there = dlpack.NAMES.get(device[0], f"a device of DLPack's type {device[0]}")
        raise _refused(f"an array on {memory.space.name}", f"one on {there}, number {device[1]}")


def _check_dense(shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
    """Axes of length 1 are passed over: nothing steps along them."""
    dense = (prod(shape[axis + 1 :]) for axis in range(len(shape)))
    steps = zip(shape, strides, dense, strict=True)
    if prod(shape) and any(length > 1 and stride != step for length, stride, step in steps):
        raise _refused("a dense row-major array", f"strides of {strides} elements for shape {shape}")


def _known(dtype: np.dtype[Any]) -> bool:
    return dtype.name in ELEMENTS and dtype.isnative


def _refused(expected: str, got: str) -> ArgumentError:
    return ArgumentError("array", "source", expected, got)
