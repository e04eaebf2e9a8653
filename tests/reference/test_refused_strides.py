"""Strided tensors that mean nothing: every operation, each of its tensors, on the border, with all that is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference
from tests.errors import error_of
from tests.reference.samples import arguments

TENSORS = {
    "map_strided": "input output",
    "zip_strided": "a b output",
    "reduce_strided": "input output",
    "matmul_strided": "a b output",
}
EVERY = [(operation, name) for operation, names in TENSORS.items() for name in names.split()]
FUNCTIONS = {"map_strided": 23, "zip_strided": 16, "reduce_strided": 5}


def said_of(operation: str, **wrong: Any) -> str:
    return str(error_of(ValueError, getattr(reference, operation), **arguments(operation) | wrong))


def lengths(operation: str, name: str) -> list[int]:
    """How long a tensor of the sample is along each of its own axes."""
    given = arguments(operation)
    return list(given["shape"][: len(given[f"{name}_strides"])])


@pytest.mark.parametrize(("operation", "name"), EVERY)
def test_the_last_place_of_a_storage_is_taken_and_the_next_refused(operation: str, name: str) -> None:
    given = arguments(operation)
    size = len(given[name])
    reaches = [(n - 1) * int(step) for n, step in zip(lengths(operation, name), given[f"{name}_strides"], strict=True)]
    below, above = -sum(min(r, 0) for r in reaches), sum(max(r, 0) for r in reaches)
    for offset in (below, size - 1 - above):
        getattr(reference, operation)(**given | {f"{name}_offset": offset})
    for offset in (below - 1, size - above):
        reach = f"{offset - below} to {offset + above}"
        assert said_of(operation, **{f"{name}_offset": offset}) == (
            f"{operation}: {name}: expected every element inside its {size} places, got {reach}"
        )


@pytest.mark.parametrize(("operation", "name"), [pair for pair in EVERY if pair != ("reduce_strided", "output")])
def test_a_stride_is_told_for_each_axis(operation: str, name: str) -> None:
    strides = arguments(operation)[f"{name}_strides"]
    for wrong in (strides[1:], np.append(strides, 0)):
        said = f"{operation}: {name}_strides: expected {len(strides)} of them, got {len(wrong)}"
        assert said_of(operation, **{f"{name}_strides": wrong}) == said


@pytest.mark.parametrize(("operation", "name"), EVERY)
def test_strides_are_whole_numbers(operation: str, name: str) -> None:
    wrong = (*map(int, arguments(operation)[f"{name}_strides"][:-1]), 0.5)
    said = f"{operation}: {name}_strides: expected whole numbers, got {wrong}"
    assert said_of(operation, **{f"{name}_strides": wrong}) == said


@pytest.mark.parametrize("operation", TENSORS)
def test_shapes_are_whole_numbers_from_nought_up_and_not_too_many(operation: str) -> None:
    axes = len(arguments(operation)["shape"])
    for shape, said in (
        ((*(2,) * (axes - 1), 1.5), f"whole numbers, got {(*(2,) * (axes - 1), 1.5)}"),
        ((*(2,) * (axes - 1), -1), f"lengths from 0 up, got {(*(2,) * (axes - 1), -1)}"),
        ((1,) * 33, "at most 32 axes, got 33"),
    ):
        assert said_of(operation, shape=shape) == f"{operation}: shape: expected {said}"


@pytest.mark.parametrize("operation", TENSORS)
def test_as_many_axes_as_may_be_are_taken(operation: str) -> None:
    kept = {"map_strided": 32, "zip_strided": 32, "reduce_strided": 16, "matmul_strided": 31}[operation]
    zeros = {f"{name}_strides": [0] * 32 for name in TENSORS[operation].split()} | {"output_strides": [0] * kept}
    given = arguments(operation)
    result = getattr(reference, operation)(**given | zeros | {"shape": [1] * 32})
    changed = np.flatnonzero(result != given["output"])
    assert set(changed) <= {given["output_offset"]}


@pytest.mark.parametrize(("operation", "count"), FUNCTIONS.items())
def test_functions_are_those_that_have_a_number(operation: str, count: int) -> None:
    for number in (-2, -1, count, count + 1):
        said = f"{operation}: function: expected 0 <= function < {count}, got {number}"
        assert said_of(operation, function=number) == said
    for number in (0, count - 1):
        getattr(reference, operation)(**arguments(operation) | {"function": number})


def test_results_are_kept_along_at_most_the_axes_there_are() -> None:
    said = "reduce_strided: output_strides: expected at most 3 axes, those of shape, got 4"
    assert said_of("reduce_strided", output_strides=(0,) * 4) == said
    given = arguments("reduce_strided") | {"output_strides": (12, 4, 1), "output_offset": 0}  # nothing is joined
    np.testing.assert_array_equal(
        reference.reduce_strided(**given)[:24].reshape(2, 3, 4),
        given["input"][1 + np.add.outer(np.add.outer([0, 1], [0, 8, 16]), [0, 2, 4, 6])] + given["start"],
    )


@pytest.mark.parametrize("operation", TENSORS)
def test_elements_of_a_result_share_no_place(operation: str) -> None:
    wrong = np.zeros_like(arguments(operation)["output_strides"])
    said = f"{operation}: output: expected a place for each element, got shared ones"
    assert said_of(operation, output_strides=wrong) == said
    assert (
        said_of("matmul_strided", shape=(5, 4)) == "matmul_strided: shape: expected at least 3 axes: M, N and K, got 2"
    )
