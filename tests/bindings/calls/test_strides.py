"""Tensors of any layout in calls: which are refused before the library sees them, and what empty ones are."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bindings import ArgumentError, Library
from bindings.calls.strides import is_apart, problem_of, span
from tests.errors import error_of


def _places(shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> list[int]:
    indices = itertools.product(*map(range, shape))
    return [offset + sum(i * s for i, s in zip(index, strides, strict=True)) for index in indices]


AXES = st.lists(st.tuples(st.integers(1, 4), st.integers(-9, 9)), max_size=4)


@given(AXES, st.integers(-5, 30))
def test_the_places_of_elements(axes: list[tuple[int, int]], offset: int) -> None:
    shape, strides = tuple(length for length, _ in axes), tuple(stride for _, stride in axes)
    places = _places(shape, strides, offset)
    assert span(shape, strides, offset) == (min(places), max(places))
    if is_apart(shape, strides):
        assert len(set(places)) == len(places)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_slices_transposes_and_reversals_have_a_place_for_each_element(order: tuple[int, ...]) -> None:
    array = np.zeros((8, 9, 10))[1::3, ::-2, 4:9].transpose(order)
    assert is_apart(array.shape, [stride // array.itemsize for stride in array.strides])


def test_entries_do_not_overflow() -> None:
    shape, strides = np.array([2, 2]), np.array([2**62, 2**62])
    assert problem_of(shape, strides, 0, 10, written=False) is not None
    assert problem_of(np.array([2**40, 2**40]), np.array([0, 0]), 0, 1, written=False) is not None


def _arguments(**given: Any) -> dict[str, Any]:
    """The transpose of 2 x 3 numbers."""
    numbers = {
        "input": np.arange(6, dtype=np.float32),
        "output": np.full(8, -1, np.float32),
        "shape": np.array([3, 2]),
        "input_strides": np.array([1, 3]),
        "output_strides": np.array([2, 1]),
    }
    return numbers | {"input_offset": 0, "output_offset": 1, "function": 0} | given


def test_a_transpose(stub: Library) -> None:
    assert stub.map_strided(**_arguments()).tolist() == [-1, 0, 3, 1, 4, 2, 5, -1]


def test_a_tensor_without_axes(stub: Library) -> None:
    none = np.array([], np.int64)
    given = _arguments(shape=none, input_strides=none, output_strides=none, input_offset=4)
    assert stub.map_strided(**given).tolist() == [-1, 4, -1, -1, -1, -1, -1, -1]


def test_a_tensor_without_elements_needs_no_storage(stub: Library) -> None:
    given = _arguments(shape=np.array([3, 0]), input=np.array([], np.float32), input_offset=99)
    assert stub.map_strided(**given).tolist() == [-1] * 8


REFUSED = [
    ({"input_offset": 1}, "input: expected every element inside its 6 places, got places 1 to 6: shape [3, 2]"),
    ({"input_offset": -1}, "input: expected every element inside its 6 places, got places -1 to 4"),
    ({"input_strides": np.array([-1, 3])}, "input: expected every element inside its 6 places, got places -2 to 3"),
    ({"output_strides": np.array([1, 1])}, "output: expected a place of its own for every element"),
    ({"output_strides": np.array([0, 1])}, "output: expected a place of its own for every element"),
    ({"shape": np.array([3, -2])}, "input: expected a shape of lengths from 0 up, got shape [3, -2]"),
    ({"shape": np.array([3])}, "input_strides: expected shape (axes) = (1,) where axes = 1"),
    ({"shape": np.array([3, 2], np.int32)}, "shape: expected a int64 array"),
]


@pytest.mark.parametrize(("given", "text"), REFUSED)
def test_what_does_not_lie_in_its_storage_is_refused(stub: Library, given: dict[str, Any], text: str) -> None:
    arguments = _arguments(**given)
    error = error_of(ArgumentError, lambda: stub.map_strided(**arguments))
    assert error is not None
    assert text in str(error)
    assert (arguments["output"] == -1).all()
