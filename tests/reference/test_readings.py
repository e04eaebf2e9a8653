"""Every named wrong reading has the operation's arguments, a name of its own, and results that the judge refuses."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np
import pytest

import reference
from conformance.noise import exact
from conformance.verdict import judge
from reference.readings import READINGS, Reading
from tests.reference.reading_data import datasets


def _exactly(value: Any) -> Any:
    """The value as exact noise numbers; whole numbers, indices and seeds stay."""
    if isinstance(value, list):
        return [_exactly(item) for item in value]
    if isinstance(value, float):
        return exact(np.float32(value))
    return exact(value) if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value


def _rounded(value: Any) -> Any:
    return float(np.float32(value)) if isinstance(value, float) else value


def _outputs(function: Any, given: dict[str, Any]) -> list[Any]:
    results = function(**given)
    results = results if isinstance(results, tuple) else (results,)
    return [item for result in results for item in (result if isinstance(result, list) else [result])]


@functools.cache
def _expectations(operation: str) -> list[tuple[dict[str, Any], list[Any]]]:
    function = getattr(reference, operation)
    found = []
    for data in datasets(operation):
        given = {name: _rounded(value) for name, value in data.items()}
        found.append((given, _outputs(function, {name: _exactly(value) for name, value in given.items()})))
    return found


def _refusals(operation: str, function: Any) -> list[str]:
    """Why the judge refuses what the function makes of each set of data; none where it accepts all."""
    reasons = []
    for given, expected in _expectations(operation):
        for wanted, got in zip(expected, _outputs(function, given), strict=True):
            verdict = judge(operation, wanted, _as_float32(got))
            if not verdict.passed:
                reasons.append(verdict.reason)
    return reasons


def _as_float32(array: Any) -> Any:
    """What an operation without input arrays computes in float64, stored."""
    return array.astype(np.float32) if array.dtype == np.float64 else array


@pytest.mark.parametrize("operation", reference.OPERATIONS)
def test_the_operation_itself_is_accepted(operation: str) -> None:
    assert _refusals(operation, getattr(reference, operation)) == []


@pytest.mark.parametrize("reading", READINGS, ids=lambda reading: reading.id)
def test_the_reading_is_refused(reading: Reading) -> None:
    assert _refusals(reading.operation, reading.function)


def test_every_operation_has_readings_with_its_own_arguments() -> None:
    assert {reading.operation for reading in READINGS} == set(reference.OPERATIONS)
    for reading in READINGS:
        own, canonical = (inspect.signature(f) for f in (reading.function, getattr(reference, reading.operation)))
        assert list(own.parameters) == list(canonical.parameters), reading.id


def test_names_are_unique_and_reasons_are_sentences() -> None:
    ids = [reading.id for reading in READINGS]
    assert sorted(set(ids)) == sorted(ids)
    assert [reading.id for reading in READINGS if not reading.why.endswith(".") or len(reading.why) > 100] == []
