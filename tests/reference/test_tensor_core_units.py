"""The units of each architecture by what they keep: digits, products at once, formats; docs/tensor_cores.md's table."""

from __future__ import annotations

import numpy as np
import pytest

from reference.tensor_core import WARP_GROUP, MatrixUnit, dot, matrix_unit
from tests.errors import error_of

BY_FLOAT16 = (25, 16)
# Architectures and formats; how many digits behind the point of the largest, how many products at once.
TABLE = [
    ((70,), ("float16",), (23, 4)),
    ((75,), ("float16",), (24, 8)),
    ((80, 86, 89), ("float16", "bfloat16"), (24, 8)),
    ((80, 86, 89), ("tf32",), (24, 4)),
    ((89,), ("e4m3", "e5m2"), (13, 16)),
    ((90, 100, 120), ("float16", "bfloat16"), (25, 16)),
    ((90, 100, 120), ("tf32",), (25, 8)),
    ((90, 100), ("e4m3", "e5m2"), BY_FLOAT16),
    ((120,), ("e4m3", "e5m2"), (25, 32)),
]
UNITS = [
    *((sm, format, *found) for sms, formats, found in TABLE for sm in sms for format in formats),
    *(("wgmma", format, 13, 32) for format in ("e4m3", "e5m2")),
    *(("tcgen05", format, 25, 32) for format in ("e4m3", "e5m2")),
]
LARGE = 2.0**16  # the product of two factors that every format holds


def unit_of(name: int | str, format: str) -> MatrixUnit:
    return WARP_GROUP[name] if isinstance(name, str) else matrix_unit(name, format)


def kept(term: float, format: str, unit: MatrixUnit, length: int) -> list[int]:
    """The places at which a power of two is not lost in an instruction that begins with LARGE - LARGE."""
    exponent = int(np.log2(term))
    a, b = np.zeros((length, length)), np.zeros((length, length))
    np.fill_diagonal(a, 2.0 ** (exponent // 2))
    np.fill_diagonal(b, 2.0 ** (exponent - exponent // 2))
    a[2:, :2], b[2:, :2] = [LARGE**0.5, -(LARGE**0.5)], LARGE**0.5
    sums = dot(a, b, np.zeros(length, np.float32), format, unit)[2:]
    assert set(sums) <= {0.0, term}
    return [place for place, total in enumerate(sums, start=2) if total]


@pytest.mark.parametrize(("name", "format", "digits", "at_once"), UNITS)
def test_so_many_digits_are_kept_in_a_sum_of_so_many_products(
    name: int | str, format: str, digits: int, at_once: int
) -> None:
    unit, last = unit_of(name, format), LARGE * 2.0**-digits
    if format.startswith("e") and (digits, at_once) == BY_FLOAT16:
        # Of 32 products those at places 0, 1, 4, 5, ... make one sum and the others the next.
        assert kept(last, format, unit, 32) == [*range(2, 32)]
        assert kept(last / 2, format, unit, 32) == [place for place in range(2, 32) if place % 4 > 1]
    else:
        assert kept(last, format, unit, 64) == [*range(2, 64)]
        assert kept(last / 2, format, unit, 64) == [*range(at_once, 64)]


@pytest.mark.parametrize(("name", "format", "digits", "at_once"), UNITS)
def test_a_sum_keeps_the_digits_of_float32_or_of_a_short_unit(
    name: int | str, format: str, digits: int, at_once: int
) -> None:
    fraction = 13 if digits == 13 else 23
    last = 2 * LARGE * 2.0**-fraction
    a, b = np.zeros((2, 32)), np.zeros((2, 32))
    a[:, 0] = b[:, 0] = LARGE**0.5
    a[:, 1], b[:, 1] = [last, last / 2], 1.0
    sums = dot(a, b, np.full(2, LARGE, np.float32), format, unit_of(name, format))
    assert sums.tolist() == [2 * LARGE + last, 2 * LARGE]


@pytest.mark.parametrize("sm", [70, 75, 80, 86, 89, 90, 100, 120])
def test_an_architecture_has_these_formats_alone(sm: int) -> None:
    formats = {format for architectures, formats, _ in TABLE if sm in architectures for format in formats}
    for format in ("float32", "tf32", "float16", "bfloat16", "e4m3", "e5m2"):
        error = error_of(ValueError, matrix_unit, sm, format)
        assert (error is None) == (format in formats)
        if error:
            told = str(error).removeprefix("matrix_unit: operands: expected one of ").split(" on ")
            assert set(told[0].split(", ")) == formats
            assert told[1] == f"sm_{sm}, got {format}"


@pytest.mark.parametrize("sm", [69, 71, 79, 81, 88, 91, 99, 101, 119, 121])
def test_an_architecture_that_is_none_of_these_is_refused(sm: int) -> None:
    said = "matrix_unit: architecture: expected one of 70, 75, 80, 86, 89, 90, 100, 120"
    assert str(error_of(ValueError, matrix_unit, sm, "float16")) == f"{said}, got {sm}"


@pytest.mark.parametrize("result", ["float32", "float16"])
@pytest.mark.parametrize(("sm", "format"), [(80, "float16"), (90, "e4m3")])
def test_the_result_is_of_its_type_whatever_it_holds(sm: int, format: str, result: str) -> None:
    unit, c = matrix_unit(sm, format), np.array([1.0, np.nan, 2.0], result)
    got = dot(np.ones((3, 32)), np.ones((3, 32)), c, format, unit, result)
    assert got.dtype == result
    assert got.shape == (3,)
    np.testing.assert_array_equal(got, np.array([33.0, np.nan, 34.0]))


def test_what_no_unit_multiplies_is_refused() -> None:
    unit, c = matrix_unit(80, "float16"), np.float32(0)
    said = str(error_of(ValueError, dot, np.ones((2, 3, 8)), np.ones(4), c, "float16", unit))
    assert said == "dot: b: expected (8,) numbers as in a, got (4,)"
    said = str(error_of(ValueError, dot, np.ones(8), np.ones(8), c, "float16", unit, "bfloat16"))
    assert said == "dot: result: expected float32 or float16, got bfloat16"


@pytest.mark.parametrize("sm", [80, 90])
def test_of_tf32_the_digits_behind_the_tenth_are_cut(sm: int) -> None:
    cut = 2.0**-11 + 2.0**-23
    a = np.array([[1 + 2.0**-10 + cut, 0.0], [-1 - cut, 0.0], [2.0**-126 + 2.0**-137, 0.0]])
    sums = dot(a, np.ones((3, 2)), np.zeros(3, np.float32), "tf32", matrix_unit(sm, "tf32"))
    assert sums.tolist() == [1 + 2.0**-10, -1.0, 2.0**-126]
    infinite = np.full((2, 1), np.inf)  # times the smallest number of the format, and times what is cut to zero
    sums = dot(infinite, np.array([[2.0**-136], [2.0**-137]]), np.zeros(2), "tf32", matrix_unit(sm, "tf32"))
    assert np.isinf(sums[0])
    assert np.isnan(sums[1])


@pytest.mark.parametrize(
    ("result", "largest", "step"), [("float32", 2.0**128 - 2.0**104, 2.0**104), ("float16", 65504.0, 32.0)]
)
def test_what_is_past_the_largest_of_the_result_is_infinite(result: str, largest: float, step: float) -> None:
    unit, c, a = matrix_unit(90, "bfloat16"), np.array([largest, -largest], result), np.array([[1.0], [-1.0]])
    assert dot(a, np.full((2, 1), step / 4), c, "bfloat16", unit, result).tolist() == c.tolist()
    assert dot(a, np.full((2, 1), step), c, "bfloat16", unit, result).tolist() == [np.inf, -np.inf]


@pytest.mark.parametrize(("sm", "format"), [(80, "float16"), (90, "e4m3"), (90, "tf32")])
def test_axes_before_the_last_are_of_as_many_dots(sm: int, format: str) -> None:
    unit = matrix_unit(sm, format)
    a, b = np.arange(2 * 1 * 3 * 32).reshape(2, 1, 3, 32) % 3 - 1.0, np.arange(4 * 32).reshape(4, 1, 32) % 5 - 2.0
    sums = dot(a, b, np.zeros((2, 4, 3), np.float32), format, unit)
    np.testing.assert_array_equal(sums, (a * b).sum(axis=-1))
