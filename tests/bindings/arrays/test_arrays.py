"""DeviceArrays: where they lie, their views, calls on them, and that nothing waits but what says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bindings import ArgumentError, ArgumentTypeError, CallError, DeviceArray, Library
from tests.bindings.spy import Spy
from tests.compiler import compile_device

X = np.arange(24, dtype=np.float32)


def test_there_and_back(library: Library) -> None:
    array = library.array(X.reshape(2, 3, 4))
    assert (array.shape, array.dtype, array.ndim, array.size, array.nbytes) == ((2, 3, 4), np.float32, 3, 24, 96)
    assert len(array) == 2
    np.testing.assert_array_equal(array.to_host(), X.reshape(2, 3, 4))


def test_views_share_memory(library: Library) -> None:
    array = library.array(X.copy())
    rows = array.reshape(4, -1)
    assert rows.reshape((2, 2, 6)).shape == (2, 2, 6)
    for view, expected in [
        (rows[1], X[6:12]),
        (rows[-1], X[18:]),
        (rows[1:3], X[6:18].reshape(2, 6)),
        (array[5], X[5]),
    ]:
        np.testing.assert_array_equal(view.to_host(), expected)
    assert [view.address for view in rows] == [array.address + 24 * index for index in range(4)]
    rows[2].copy_from(np.zeros(6, np.float32))
    assert array.to_host()[11:19].tolist() == [11, 0, 0, 0, 0, 0, 0, 18]
    rows[0].copy_from(rows[1])
    assert array.to_host()[:6].tolist() == X[6:12].tolist()
    assert rows[3:1].shape == (0, 6)
    assert np.zeros_like(rows).to_host().tolist() == np.zeros((4, 6)).tolist()


def test_one_value_is_a_number(library: Library) -> None:
    array = library.array(X)
    assert (float(array[3]), int(array[2:3])) == (3.0, 2)
    with pytest.raises(TypeError, match=r"only one value is a number, got shape \(24,\)"):
        float(array)


def test_arrays_beside_another(library: Library) -> None:
    beside = np.array([1.5, 2], np.float32, like=library.array(X))
    assert isinstance(beside, DeviceArray)
    assert beside.to_host().tolist() == [1.5, 2]


def test_memory_lives_as_long_as_a_view_of_it(library: Library) -> None:
    view = library.array(X.copy()).reshape(2, 12)[1]
    others = [library.array(np.zeros(24, np.float32)) for _ in range(3)]
    np.testing.assert_array_equal(view.to_host(), X[12:])
    assert len({view.address, *(other.address for other in others)}) == 4


@pytest.mark.parametrize(
    ("use", "kind", "message"),
    [
        (lambda a: a.reshape(5, 5), ArgumentError, r"reshape: argument shape: expected 24 elements, .*got \(5, 5\)"),
        (lambda a: a.reshape(-1, -1), ArgumentError, r"got \(-1, -1\)"),
        (lambda a: a[::2], ArgumentTypeError, r"expected a whole number or a slice of step 1, .*got slice"),
        (lambda a: a[24], IndexError, "from -24 to 23, got 24"),
        (lambda a: a[0][0], IndexError, "expected an axis to index"),
        (lambda a: len(a[0]), TypeError, "has no length"),
        (lambda a: a + X, TypeError, "does not support ufuncs"),
        (lambda a: X * a, TypeError, "unsupported operand"),
        (bool, TypeError, r"to_host\(\) waits"),
        (np.sum, TypeError, r"numpy\.sum: no function of a DeviceArray; operations compute, to_host\(\) copies"),
        (
            lambda a: a.copy_from(X[:3]),
            ArgumentError,
            r"float32 of shape \(24,\), got float32 of shape \(3,\)",
        ),
        (lambda a: a.copy_from([1]), ArgumentTypeError, r"expected a float32 array of shape \(24,\), got list"),
    ],
)
def test_what_an_array_does_not_do(library: Library, use: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        use(library.array(X))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (X[::2], r"dense row-major array, got strides \(8,\) for shape \(12,\)"),
        (X.astype(complex), "numbers that the header knows, got complex128"),
        (X.astype(">f4"), "numbers that the header knows, got >f4"),
        (np.frombuffer(bytes(9), np.uint8)[1:].view(np.float32), "aligned to 4 bytes, got address"),
        ([1.0], "a NumPy array, a DeviceArray, or one with DLPack or the CUDA array interface, got list"),
    ],
)
def test_what_is_not_taken(library: Library, source: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=f"array: argument source: expected .*{message}"):
        library.array(source)


def test_on_the_host_nothing_is_copied(spy: Spy) -> None:
    source = X.copy()
    array = spy.library.array(source)
    assert np.shares_memory(array.to_host(), source)
    assert np.shares_memory(np.asarray(array), source)
    assert spy.library.array(array) is array
    kept = spy.library.silu(array).to_host()
    assert kept.flags.writeable
    kept[:] = 3  # the NumPy array keeps the memory it shows


def test_a_read_only_array_is_read_and_not_written(spy: Spy) -> None:
    source = X.copy()
    source.flags.writeable = False
    array = spy.library.array(source)
    spy.library.silu(array)
    assert not array.to_host().flags.writeable
    with pytest.raises(ArgumentError, match=r"silu: argument output: expected .* that can be written, got a read-only"):
        spy.library.silu(X, output=array)
    with pytest.raises(ArgumentError, match="copy_from: argument array: expected one that can be written"):
        array.copy_from(X)
    with pytest.raises(BufferError, match="read-only"):
        array.__dlpack__()


def test_a_call_on_device_arrays_returns_one_and_does_not_wait(device: Library) -> None:
    x = device.array(X)
    before = device.services.fact("waits")
    y = device.scale(device.scale(x, 2.0), 3.0)
    device.multi_scale([y, x], device.array(np.array([0.5], np.float32)))
    device.embedding(device.array(X.reshape(6, 4)), device.array(np.arange(3, dtype=np.int32)))
    given = device.memory.empty((24,), np.float32)
    assert device.scale(x, 1.0, output=given) is given
    assert device.services.fact("waits") == before
    assert isinstance(y, DeviceArray)
    np.testing.assert_array_equal(y.to_host(), 3 * X)
    assert device.services.fact("waits") == before + 1


def test_an_error_on_the_device_is_said_by_the_next_wait(tmp_path: Path) -> None:
    library = Library(compile_device(tmp_path, "failing", "-DBODY=(failing=1,0)"))
    y = library.scale(library.array(X), 2.0)
    with pytest.raises(
        CallError, match=r"synchronize: .* 700: .*cudaErrorIllegalAddress; the last calls before it: scale$"
    ):
        library.synchronize()
    with pytest.raises(CallError, match="cudaErrorIllegalAddress"):
        y.to_host()


def test_host_arrays_are_no_company_for_device_arrays(device: Library, tmp_path: Path) -> None:
    with pytest.raises(ArgumentTypeError, match=r"output: expected a DeviceArray, as input is one .*got a host array"):
        device.scale(device.array(X), 2.0, output=np.empty_like(X))
    with pytest.raises(ArgumentTypeError, match=r"arrays\[1\]: expected a DeviceArray, as scale is one"):
        device.multi_scale([device.array(X), X.copy()], device.array(np.array([1], np.float32)))
    resident = Library(device.path, resident=True)
    with pytest.raises(ArgumentTypeError, match="input: expected a DeviceArray, as each array of a resident library"):
        resident.scale(X, 2.0)


def test_arrays_of_other_places(device: Library, spy: Spy) -> None:
    for library, other in ((device, spy.library), (spy.library, device)):
        elsewhere = other.array(X)
        for use in (library.array, lambda array, library=library: library.scale(array, 2.0)):
            with pytest.raises(ArgumentError, match=r"expected an array on .*, got one on "):
                use(elsewhere)


def test_a_resident_library_returns_device_arrays_always(spy: Spy) -> None:
    resident = Library(spy.library.path, resident=True)
    assert isinstance(resident.zero_grad(size=3), DeviceArray)
    assert isinstance(resident.silu(X), DeviceArray)
    assert isinstance(spy.library.zero_grad(size=3), np.ndarray)


def test_arguments_on_the_host_stay_there(spy: Spy) -> None:
    array = spy.library.array(X.copy())
    decays = spy.library.array(np.zeros(1, np.float32))
    moments = [spy.library.array(X.copy()) for _ in range(3)]
    numbers = {"lr": 1.0, "beta1": 0.5, "beta2": 0.5, "eps": 0.0, "step": 1}
    with pytest.raises(ArgumentTypeError, match=r"weight_decays: expected .* of shape \(count\) on the host"):
        spy.library.multi_adamw([array], *([m] for m in moments), decays, decays, **numbers)


def test_checks_of_device_arrays_are_those_of_any(library: Library) -> None:
    array = library.array(X)
    with pytest.raises(ArgumentError, match=r"argument indices: expected a int32 array .*got float32 DeviceArray"):
        library.embedding(array.reshape(6, 4), array)
    with pytest.raises(ArgumentError, match=r"scale: argument input: .*got float32 DeviceArray of shape \(4, 6\)"):
        library.scale(array.reshape(4, 6), 2.0)
    with pytest.raises(ArgumentError, match="memory apart from input, got arrays that overlap"):
        library.scale(array, 2.0, output=array)


def test_indices_are_looked_at_where_that_is_not_waiting(spy: Spy, device: Library) -> None:
    arguments = X.reshape(6, 4), np.array([6], np.int32)
    with pytest.raises(ArgumentError, match=r"indices: expected values v with 0 <= v < vocab_size = 6, got 6"):
        spy.library.embedding(*map(spy.library.array, arguments))
    assert np.isnan(device.embedding(*map(device.array, arguments)).to_host()).all()


def test_numpy_is_told_that_it_cannot_read_a_device(device: Library) -> None:
    with pytest.raises(TypeError, match=r"lies on a device \(sm_90\), where NumPy cannot read; use to_host"):
        np.asarray(device.array(X))
