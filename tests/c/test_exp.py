"""The build's own exponential, through the one operation that shows it bare: d_logits = exp(log_probs) * 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bindings import Library

ULPS = 1.03  # stated in cuda/src/vector/math.h
LOWEST, OVERFLOW = np.float32(-87.33654), np.float32(88.72284)  # ln of the least normal float and of the greatest


def exp(stub: Library, x: Any) -> Any:
    """float32 exp of a vector; the column in front of it takes the -1 of the target."""
    padded = np.concatenate([np.zeros(1, np.float32), x])[None]
    return stub.cross_entropy_backward(padded, np.zeros(1, np.int32), scale=1.0)[0, 1:]


def floats(low: float, high: float, stride: int) -> Any:
    """Every stride-th float between two numbers of one sign."""
    first, last = sorted(int(np.float32(end).view(np.uint32)) for end in (low, high))
    return np.arange(first, last, stride, dtype=np.uint32).view(np.float32)


@pytest.mark.parametrize("bounds", [(-1e-40, LOWEST), (1e-40, OVERFLOW)], ids=["negative", "positive"])
def test_within_its_stated_error_over_the_whole_range(stub: Library, bounds: tuple[float, float]) -> None:
    x = floats(*bounds, stride=1009)
    exact = np.exp(x.astype(np.float64))
    ulp = np.ldexp(1.0, np.frexp(exact)[1] - 24)
    assert np.abs(exp(stub, x) - exact).max() <= (ULPS * ulp).max()
    assert (np.abs(exp(stub, x) - exact) / ulp).max() <= ULPS


def test_ends_of_the_range(stub: Library) -> None:
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 88.73, 1e30, -87.34, -104.0, -1e30, 1e-45], np.float32)
    expected = [np.nan, np.inf, 0, 1, 1, np.inf, np.inf, 0, 0, 0, 1]
    np.testing.assert_array_equal(exp(stub, x), np.array(expected, np.float32))


def test_every_place_in_a_vector_gives_the_same_bits(stub: Library) -> None:
    """The last elements of a row go another way than the whole vectors before them."""
    x = np.linspace(-80, 80, 131, dtype=np.float32)
    whole = exp(stub, x)
    for length in range(1, 66):
        np.testing.assert_array_equal(exp(stub, x[-length:].copy()), whole[-length:])
