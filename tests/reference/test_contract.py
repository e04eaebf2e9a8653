"""Every operation as the header has it: name, arguments, results; on float64, float32 and the judge's noise numbers."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import reference
from bindings.header.read import read_header
from bindings.header.signature import Signature, shape_of
from conformance.limits.noise import Noisy, exact
from reference.ops import sixteen
from tests.reference.bounds import assert_agree
from tests.reference.samples import SAMPLES, arguments

SIGNATURES = {name: Signature(function) for name, function in read_header().operations.items()}
WITHOUT_ARRAYS = {"rope_freqs", "zero_grad"}  # no argument tells the precision: float64


def _tuple(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


def _arrays(values: Any) -> list[Any]:
    """The arrays among arguments or results, those in lists too."""
    return [a for value in values for a in (value if isinstance(value, list) else [value]) if hasattr(a, "shape")]


def test_the_reference_has_exactly_the_operations_of_the_header() -> None:
    assert sorted(reference.OPERATIONS) == sorted(SIGNATURES) == sorted(SAMPLES)


@pytest.mark.parametrize("operation", SIGNATURES)
def test_arguments_are_those_of_the_header_in_its_order(operation: str) -> None:
    assert tuple(inspect.signature(getattr(reference, operation)).parameters) == SIGNATURES[operation].names
    assert getattr(reference, operation).__doc__


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("operation", SIGNATURES)
def test_results_have_the_shapes_and_types_of_the_header(operation: str, dtype: Any) -> None:
    signature, given = SIGNATURES[operation], arguments(operation, dtype)
    results = _tuple(getattr(reference, operation)(**given))
    assert len(results) == len(signature.returned)
    sizes = signature.sizes({name: given[name] for name in signature.names})
    floating = np.float64 if operation in WITHOUT_ARRAYS else np.float32 if operation in sixteen.OPERATIONS else dtype
    for parameter, result in zip(signature.returned, results, strict=True):
        expected = floating if parameter.element == "float32" else parameter.type.dtype
        if parameter.is_list:
            assert [r.shape for r in result] == [a.shape for a in given[parameter.name]], parameter.name
        else:
            assert result.shape == shape_of(parameter, sizes), parameter.name
        for array in _arrays([result]):
            assert array.dtype == expected, parameter.name
            assert array.flags.c_contiguous, parameter.name


@pytest.mark.parametrize("operation", SIGNATURES)
def test_arguments_stay_as_they_are_and_results_are_new(operation: str) -> None:
    given = arguments(operation)
    results = _tuple(getattr(reference, operation)(**given))
    for array, again in zip(_arrays(given.values()), _arrays(arguments(operation).values()), strict=True):
        np.testing.assert_array_equal(array, again)
        assert not any(np.shares_memory(array, result) for result in _arrays(results))


EXTREME = [np.inf, 3e38, -np.inf, 0.0, np.nan, -3e38, 1e-45, -0.0]
ALONE = [3e38, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]  # one that is not lost among infinities


def _filled(value: Any, numbers: Any) -> Any:
    """An array of the same shape and type with these numbers, over and over; the largest one for a number."""
    if isinstance(value, list):
        return [_filled(item, numbers) for item in value]
    if not isinstance(value, np.ndarray):
        return 3e38 if isinstance(value, float) else value
    if np.issubdtype(value.dtype, np.integer):
        return value
    with np.errstate(over="ignore", under="ignore"):  # as 16 bits some are infinity or zero
        return np.resize(numbers, value.shape).astype(value.dtype)


def _some(names: set[str]) -> Iterator[set[str]]:
    """One name, two of them, all of them and all but one."""
    yield from (set(some) for count in (1, 2, len(names) - 1, len(names)) for some in combinations(names, count))


@pytest.mark.parametrize("operation", SIGNATURES)
def test_extreme_numbers_are_no_reason_to_warn(operation: str) -> None:
    given = arguments(operation, np.float32)
    arrays = {name for name, value in given.items() if not isinstance(value, float)}
    for numbers in (ALONE, *(np.roll(EXTREME, turn) for turn in range(len(EXTREME)))):
        extreme = {name: _filled(value, numbers) for name, value in given.items()}
        for names in (*_some(arrays), given.keys()):
            # Numbers that are refused are another test's; a warning is another error.
            with np.errstate(all="warn"), contextlib.suppress(ValueError):
                getattr(reference, operation)(**given | {name: extreme[name] for name in names})


def _noisy(value: Any) -> Any:
    if isinstance(value, list):
        return [_noisy(item) for item in value]
    is_float = isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype == np.float64)
    return exact(value) if is_float else value


@pytest.mark.parametrize("operation", sorted(SIGNATURES.keys() - sixteen.OPERATIONS.keys()))
def test_noise_numbers_pass_through_with_the_same_values(operation: str) -> None:
    given = arguments(operation)
    function = getattr(reference, operation)
    expected = _arrays(_tuple(function(**given)))
    results = _arrays(_tuple(function(**{name: _noisy(value) for name, value in given.items()})))
    for plain, result in zip(expected, results, strict=True):
        assert isinstance(result, Noisy) or result.dtype != object, "the noise was lost in a plain array of objects"
        values = result.v if isinstance(result, Noisy) else result
        assert_agree(values, plain, list(given.values()), operation)
