"""What a matrix unit reads of a factor: each of its digits, and of a subnormal one the smallest normal exponent."""

from __future__ import annotations

import numpy as np
import pytest

from reference.tensor_core import dot, matrix_unit

# An architecture, a format, its digits behind the first, its smallest exponent; those that the unit keeps of a sum.
FORMATS = [
    (80, "float16", 10, -14, 24),
    (80, "bfloat16", 7, -126, 24),
    (80, "tf32", 10, -126, 24),
    (89, "e4m3", 3, -6, 13),
    (89, "e5m2", 2, -14, 13),
]


@pytest.mark.parametrize(("sm", "format", "digits", "least", "kept"), FORMATS)
def test_every_digit_of_a_factor_counts(sm: int, format: str, digits: int, least: int, kept: int) -> None:
    unit, c = matrix_unit(sm, format), np.zeros(2, np.float32)
    a = np.array([[2.0 - 2.0**-digits], [2.0 ** (least - digits)]])
    assert dot(a, np.ones((2, 1)), c, format, unit).tolist() == a[:, 0].tolist()
    assert dot(np.ones((2, 1)), a, c, format, unit).tolist() == a[:, 0].tolist()


@pytest.mark.parametrize(("sm", "format", "digits", "least", "kept"), FORMATS)
def test_a_subnormal_factor_has_the_exponent_of_the_smallest_normal_one(
    sm: int, format: str, digits: int, least: int, kept: int
) -> None:
    """Half the smallest normal number times 2^8, less as much, and the last power of 2 that is kept, or half of it."""
    unit, last = matrix_unit(sm, format), least + 8 - kept
    for exponent, left in ((last, 2.0**last), (last - 1, 0.0)):
        half = exponent // 2
        a = np.array([2.0 ** (least - 1), -(2.0 ** (least - 1)), 2.0**half])
        b = np.array([2.0**8, 2.0**8, 2.0 ** (exponent - half)])
        assert dot(a, b, np.float32(0), format, unit) == left
        assert dot(b, a, np.float32(0), format, unit) == left
