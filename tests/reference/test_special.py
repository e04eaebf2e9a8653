"""The error function against that of the C library, and what goes in and comes out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from reference.special import FAR, NEAR, Function, erf, erfc

UNITS = {erf: 4, erfc: 8}  # in the last place, as reference/special.py states
ENDS = [0.0, -0.0, NEAR, -NEAR, FAR, -FAR, 1e-300, 5e-324, 1e300, -1e300, math.inf, -math.inf]
BOTH = pytest.mark.parametrize(("function", "library"), [(erf, math.erf), (erfc, math.erfc)], ids=["erf", "erfc"])


@BOTH
def test_within_its_stated_error(function: Function, library: Callable[[float], float]) -> None:
    x = np.concatenate([np.linspace(-7.0, 7.0, 30011), np.linspace(5.0, 26.0, 20011), ENDS])
    expected = np.array([library(value) for value in x])
    assert (np.abs(function(x) - expected) <= UNITS[function] * np.spacing(np.abs(expected))).all()


@BOTH
def test_no_number_stays_none(function: Function, library: Callable[[float], float]) -> None:
    assert np.isnan(function(np.array([np.nan]))).all()


@BOTH
def test_subnormal_results_reach_zero(function: Function, library: Callable[[float], float]) -> None:
    """Past 26.5 erfc is below the normal numbers, which hold it to a multiple of the least one."""
    x = np.linspace(26.5, 40.0, 500)
    expected = np.array([library(value) for value in x])
    assert (np.abs(function(x) - expected) <= UNITS[function] * np.spacing(expected)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_results_have_the_type_and_shape_of_the_argument(dtype: Any) -> None:
    class Kind(np.ndarray[Any, Any]):
        pass

    given = np.linspace(-3, 3, 12, dtype=dtype).reshape(3, 4)
    for function in (erf, erfc):
        assert function(given).dtype == dtype
        assert function(given).shape == (3, 4)
        assert type(function(given.view(Kind))) is Kind
        np.testing.assert_array_equal(function(given), function(given.astype(np.float64)).astype(dtype))


def test_an_array_class_answers_to_it_as_to_functions_of_numpy() -> None:
    class Other:
        def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
            return function, types, args, kwargs

    other = Other()
    assert erf(other) == (erf, (Other,), (other,), {})
