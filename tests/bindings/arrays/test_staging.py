"""Host arrays passed to a library that computes on device memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bindings import CallError, Library, NoDevice
from tests.compiler import compile_device

X = np.arange(7, dtype=np.float32)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return Library(compile_device(tmp_path_factory.mktemp("device")))


def test_arrays_are_copied_there_and_back(library: Library) -> None:
    assert library.facts.on_device
    assert library.facts.described == "a device (sm_90)"
    np.testing.assert_array_equal(library.scale(X, 3), 3 * X)


def test_an_output_given_by_the_caller_is_filled(library: Library) -> None:
    output = np.empty_like(X)
    assert library.scale(X, 2, output=output) is output
    np.testing.assert_array_equal(output, 2 * X)


def test_lists_are_copied_array_by_array_and_sizes_stay_on_the_host(library: Library) -> None:
    arrays = [X.copy(), X[:3].copy()]
    library.multi_scale(arrays, np.array([2], np.float32))
    np.testing.assert_array_equal(arrays[0], 2 * X)
    np.testing.assert_array_equal(arrays[1], 2 * X[:3])


def test_memory_of_a_call_is_used_again_by_the_next(device: Library) -> None:
    for _ in range(3):
        device.scale(X, 3)
    assert device.memory.statistics == (0, 1024, 1024)


def test_an_error_that_shows_later_is_the_call_s(tmp_path: Path) -> None:
    library = Library(compile_device(tmp_path, "failing", "-DBODY=(failing=1,0)"))
    with pytest.raises(CallError, match="700: an error code of the device's runtime: CUDA's cudaErrorIllegalAddress"):
        library.scale(X, 2)


def test_a_device_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NoDevice, match="expected a device that it can compute on, found none"):
        Library(compile_device(tmp_path, "none", "-DDEVICES=0"))
