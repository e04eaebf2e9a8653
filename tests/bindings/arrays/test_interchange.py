"""Arrays of other libraries in, DeviceArrays out, without a copy."""

from __future__ import annotations

import gc
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bindings import ArgumentError, Library
from bindings.arrays import dlpack
from tests.bindings.spy import Spy

X = np.arange(6, dtype=np.float32)


def described(array: Any, **changes: Any) -> Any:
    """An object that shows a DeviceArray through the CUDA array interface."""
    return SimpleNamespace(__cuda_array_interface__=array.__cuda_array_interface__ | changes)


def producing(array: Any, **asked: Any) -> Any:
    """An object that gives a DeviceArray through DLPack alone."""
    return SimpleNamespace(
        __dlpack__=lambda stream=None: array.__dlpack__(stream=stream, **asked),
        __dlpack_device__=array.__dlpack_device__,
    )


def test_numpy_takes_what_lies_on_the_host(spy: Spy) -> None:
    array = spy.library.array(X.copy()).reshape(2, 3)
    taken = np.from_dlpack(array)
    np.testing.assert_array_equal(taken, X.reshape(2, 3))
    assert np.shares_memory(taken, array.to_host())


def test_a_copy_is_given_where_one_is_asked_for(library: Library) -> None:
    array = library.array(X.copy())
    copy = dlpack.consume(array.__dlpack__(copy=True))
    assert copy.address != array.address
    np.testing.assert_array_equal(library.memory.array(producing(array, copy=True)).to_host(), X)
    with pytest.raises(BufferError, match=r"dl_device: expected \(.*\), where it lies, got \(8, 0\)"):
        array.__dlpack__(dl_device=(8, 0))


def test_a_capsule_keeps_the_memory_until_the_consumer_lets_go(spy: Spy) -> None:
    taken = np.from_dlpack(spy.library.array(X.copy()))
    np.testing.assert_array_equal(taken, X)
    assert dlpack._given
    del taken
    spy.library.array(X.copy()).__dlpack__()  # nobody takes it
    gc.collect()
    assert not dlpack._given


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "uint8", "bfloat16"])
def test_one_library_s_arrays_in_another(spy: Spy, dtype: str) -> None:
    kind = pytest.importorskip("ml_dtypes").bfloat16 if dtype == "bfloat16" else dtype
    array = spy.library.array(X.astype(kind).reshape(3, 2))
    taken = spy.library.array(producing(array))
    assert (taken.address, taken.shape, taken.dtype) == (array.address, (3, 2), array.dtype)


def test_a_device_s_arrays_go_out_and_in(device: Library) -> None:
    array = device.array(X)
    assert array.__dlpack_device__() == (dlpack.CUDA, 0)
    for source in (producing(array), described(array), described(array, strides=(4,)), described(array, stream=None)):
        taken = device.array(source)
        assert taken.address == array.address
        np.testing.assert_array_equal(device.scale(taken, 2.0).to_host(), 2 * X)
    interface = array.__cuda_array_interface__
    assert interface == {"shape": (6,), "typestr": "<f4", "data": (array.address, False), "version": 3, "stream": 1}


def test_what_cannot_be_taken(device: Library, spy: Spy) -> None:
    array = device.array(X)
    on_host = SimpleNamespace(__dlpack__=None, __dlpack_device__=lambda: (dlpack.CPU, 0))
    refused = [
        (device, on_host, r"an array on a device \(sm_90\), got one on the CPU"),
        (spy.library, described(array), "an array on the host, got one on a CUDA device, number 0"),
        (device, described(array, strides=(8,), shape=(3,)), r"dense row-major array, got strides of \(2,\) elements"),
        (device, described(array, typestr="<c8"), "that the header knows, got complex64"),
        (device, described(array, mask=array), "an array without a mask"),
        (device, SimpleNamespace(__dlpack__=None, __dlpack_device__=lambda: (10, 1)), "a ROCm device, number 1"),
    ]
    for library, source, message in refused:
        with pytest.raises(ArgumentError, match=f"array: argument source: expected .*{message}"):
            library.array(source)
    read_only = device.array(described(array, data=(array.address, True)))
    with pytest.raises(ArgumentError, match="a read-only one"):
        device.scale(array, 2.0, output=read_only)


def test_a_capsule_is_taken_once(spy: Spy) -> None:
    capsule = spy.library.array(X.copy()).__dlpack__()
    dlpack.consume(capsule)
    with pytest.raises(BufferError, match="not taken yet"):
        dlpack.consume(capsule)


def test_torch_in_and_out(spy: Spy) -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.arange(6, dtype=torch.float32)
    array = spy.library.array(tensor)
    assert array.address == tensor.data_ptr()
    array.copy_from(2 * X)
    assert tensor.tolist() == (2 * X).tolist()
    back = torch.from_dlpack(spy.library.array(X.copy()))
    back += 1
    assert back.tolist() == (X + 1).tolist()
    half = spy.library.array(torch.ones(3, dtype=torch.bfloat16))
    assert half.dtype.name == "bfloat16"
    for wrong, message in ((tensor.reshape(2, 3).T, "strides"), (tensor > 1, "kind6_8")):
        with pytest.raises(ArgumentError, match=message):
            spy.library.array(wrong)


def test_cupy_in_and_out(device: Library) -> None:
    """Needs a GPU: here only that CuPy takes the interface."""
    cupy = pytest.importorskip("cupy")
    assert cupy.asarray(device.array(X)).shape == (6,)
