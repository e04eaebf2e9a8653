"""The build's own logarithm, through the one operation that shows it bare: the loss of one class in a row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bindings import Library
from tests.c.test_exp import floats

ULPS = 1.0  # stated in cuda/src/vector/math.h
LEAST, LARGEST = np.float32(2.0**-149), np.finfo(np.float32).max


def log(stub: Library, x: Any, columns: int = 16) -> Any:
    """float32 log of a vector, at least -100: each in the last column of a row of ones."""
    probabilities, labels = np.ones((2, 1, columns), np.float32)
    labels[0, :-1] = 0.0
    found = []
    for probabilities[0, -1] in x:
        found.append(-stub.categorical_cross_entropy_forward(probabilities, labels)[0])
    return np.array(found)


@pytest.mark.parametrize("columns", [1, 16])
@pytest.mark.parametrize("bounds", [(2.0**-144, 2.0**-126), (2.0**-126, 0.7), (0.7, 1.42), (1.42, LARGEST)])
def test_within_its_stated_error_over_the_whole_range(stub: Library, bounds: tuple[float, float], columns: int) -> None:
    ends = np.array(bounds, np.float32).view(np.uint32)
    x = floats(*bounds, stride=int(ends[1] - ends[0]) // 1999)
    exact = np.log(x.astype(np.float64))
    ulp = np.ldexp(1.0, np.frexp(exact)[1] - 24)
    assert (np.abs(log(stub, x, columns) - exact) / ulp).max() <= ULPS


@pytest.mark.parametrize("columns", [1, 16])
def test_ends_of_the_range(stub: Library, columns: int) -> None:
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, -1.0, -1e-45, 1.0, LEAST], np.float32)
    expected = [np.nan, np.inf, np.nan, -100, -100, np.nan, np.nan, 0, -100]
    np.testing.assert_array_equal(log(stub, x, columns), np.array(expected, np.float32))
