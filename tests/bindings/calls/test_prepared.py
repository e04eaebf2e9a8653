"""Calls prepared once: what they give, and what they leave to a call as any other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bindings import ArgumentError, Library
from bindings.calls.prepared import SMALL, array_of, held

NEGATIVE = 1


def arguments(**given: Any) -> dict[str, Any]:
    """The negative of the transpose of 2 x 3 numbers, in a dense output."""
    numbers = {
        "input": np.arange(6, dtype=np.float32),
        "output": np.zeros(6, np.float32),
        "shape": np.array([3, 2]),
        "input_strides": np.array([1, 3]),
        "output_strides": np.array([2, 1]),
    }
    return numbers | {"input_offset": 0, "output_offset": 0, "function": NEGATIVE} | given


def test_it_gives_what_a_call_gives(stub: Library) -> None:
    prepared = stub.map_strided.prepare(**arguments())  # type: ignore[attr-defined]
    for array in (np.arange(6, dtype=np.float32), np.arange(10, 20, dtype=np.float32)):
        memory = prepared(held(array))
        assert np.array_equal(array_of(memory), stub.map_strided(**arguments(input=array)))
        assert len(memory) == array_of(memory).size


@pytest.mark.parametrize("size", [0, 1, SMALL, SMALL + 1])
def test_what_it_gives_is_an_array_of_its_own(stub: Library, size: int) -> None:
    """Small ones are not allocated by NumPy."""
    lies = {"shape": np.array([size]), "input_strides": np.array([1]), "output_strides": np.array([1])}
    x = np.arange(size, dtype=np.float32)
    prepared = stub.map_strided.prepare(**arguments(input=x, output=np.zeros(size, np.float32), **lies))  # type: ignore[attr-defined]
    first, second = (array_of(prepared(held(x))) for _ in range(2))
    first += 1.0
    assert np.array_equal(first, 1.0 - x)
    assert np.array_equal(second, -x)
    assert first.flags.writeable
    assert first.flags.aligned


def test_what_says_how_tensors_lie_is_copied(stub: Library) -> None:
    shape, array = np.array([3, 2]), np.arange(6, dtype=np.float32)
    prepared = stub.map_strided.prepare(**arguments(shape=shape))  # type: ignore[attr-defined]
    shape[:] = 1000
    assert np.array_equal(array_of(prepared(held(array))), stub.map_strided(**arguments()))


def test_a_storage_that_is_too_short_is_not_read(stub: Library) -> None:
    prepared = stub.map_strided.prepare(**arguments(input=np.zeros(9, np.float32)))  # type: ignore[attr-defined]
    assert prepared(held(np.zeros(5, np.float32))) is None
    assert prepared(None) is None
    assert prepared(held(np.zeros(6, np.float32))) is not None


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(6),
        np.zeros((2, 3), np.float32),
        np.zeros(12, np.float32)[::2],
        np.zeros(25, np.uint8)[1:].view(np.float32),
    ],
    ids=["float64", "two axes", "steps", "not aligned"],
)
def test_other_arrays_are_not_held(array: Any) -> None:
    assert held(array) is None


def test_a_wrong_call_is_refused_when_it_is_prepared(stub: Library) -> None:
    with pytest.raises(ArgumentError, match="every element inside its 5 places"):
        stub.map_strided.prepare(**arguments(input=np.zeros(5, np.float32)))  # type: ignore[attr-defined]


def test_outputs_with_other_places_are_not_prepared(stub: Library) -> None:
    given = arguments(output=np.zeros(7, np.float32))
    assert stub.map_strided.prepare(**given) is None  # type: ignore[attr-defined]
    assert stub.silu.prepare(np.zeros(3, np.float32)) is None  # type: ignore[attr-defined]


def test_nothing_is_done_while_a_graph_is_captured(stub: Library) -> None:
    prepared = stub.map_strided.prepare(**arguments())  # type: ignore[attr-defined]
    with stub.capture():
        assert prepared(held(np.zeros(6, np.float32))) is None


def test_into_a_storage_that_is_given(stub: Library) -> None:
    given = arguments(output=np.zeros(8, np.float32), output_strides=np.array([3, 1]))
    prepared = stub.map_strided.prepare_into(**given)  # type: ignore[attr-defined]
    array, output = np.arange(10, 16, dtype=np.float32), np.full(9, 5.0, np.float32)
    assert prepared(held(array), held(output)) is True
    assert output.tolist() == [-10, -13, 5, -11, -14, 5, -12, -15, 5]
    assert prepared(held(array), held(np.zeros(7, np.float32))) is None
    assert prepared(held(array), None) is None
    assert stub.silu.prepare_into(np.zeros(3, np.float32)) is None  # type: ignore[attr-defined]
