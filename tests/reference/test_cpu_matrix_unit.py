"""What a processor's units for bfloat16 compute, held to the same in whole fractions, term by term."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from reference.cpu_matrix_unit import FACTORS, UNITS, dot_amx, dot_avx512_bf16
from tests.errors import error_of

LEAST = Fraction(2) ** -126
Row = list[Fraction]


def rounded(x: Fraction) -> Fraction:
    """To 24 digits, ties to even; 0 where that is no normal number of float32."""
    if not x:
        return x
    exponent = abs(x.numerator).bit_length() - x.denominator.bit_length()
    if abs(x) < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (exponent - 23)
    nearest = round(x / unit) * unit
    return nearest if abs(nearest) >= LEAST else Fraction(0)


def pair_by_pair(a: Row, b: Row, total: Fraction) -> Fraction:
    for k in range(0, len(a), 2):
        total = rounded(a[k + 1] * b[k + 1] + total)
        total = rounded(a[k] * b[k] + total)
    return total


def tile_by_tile(a: Row, b: Row, total: Fraction) -> Fraction:
    for at in range(0, len(a), 32):
        sums = [Fraction(0), Fraction(0)]
        for k in range(at, at + 32):
            sums[k % 2] = rounded(a[k] * b[k] + sums[k % 2])
        total = rounded(total + rounded(sums[0] + sums[1]))
    return total


EXACT: dict[str, Callable[[Row, Row, Fraction], Fraction]] = {"avx512_bf16": pair_by_pair, "amx": tile_by_tile}


def fractions(row: Any) -> Row:
    """Of a row of numbers, those that are subnormal taken for zero."""
    return [Fraction(float(x)) if abs(float(x)) >= LEAST else Fraction(0) for x in row]


def drawn(shape: tuple[int, ...], seed: int, spread: int, scale: float) -> Any:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape) * scale * 2.0 ** rng.integers(-spread, spread + 1, shape)
    return x.astype(ml_dtypes.bfloat16).astype(np.float32)


@pytest.mark.parametrize("name", UNITS)
@pytest.mark.parametrize(("spread", "scale"), [(0, 1.0), (12, 1.0), (3, 2.0**-63), (60, 2.0**-66), (4, 2.0**-126)])
def test_the_unit_adds_term_by_term(name: str, spread: int, scale: float) -> None:
    a, b = drawn((3, 1, 64), 1, spread, scale), drawn((1, 2, 64), 2, spread, scale)
    c = np.random.default_rng(3).normal(size=(3, 2)).astype(np.float32) * np.float32(scale * scale)
    got = UNITS[name](a, b, c)
    assert (got.shape, got.dtype) == ((3, 2), np.float32)
    for i, j in np.ndindex(3, 2):
        [before] = fractions([c[i, j]])
        assert Fraction(float(got[i, j])) == EXACT[name](fractions(a[i, 0]), fractions(b[0, j]), before)


@pytest.mark.parametrize("name", UNITS)
def test_c_is_as_wide_as_the_product_or_is_repeated(name: str) -> None:
    a, b = drawn((3, 1, 32), 1, 0, 1.0), drawn((1, 2, 32), 2, 0, 1.0)
    assert (UNITS[name](a, b, np.float32(0.5)) == UNITS[name](a, b, np.full((3, 2), 0.5, np.float32))).all()
    assert UNITS[name](a[0, 0], b[0, 0], np.zeros((4, 5), np.float32)).shape == (4, 5)


@pytest.mark.parametrize("name", UNITS)
def test_a_sum_of_no_products_is_as_wide_as_they_would_be(name: str) -> None:
    sums = UNITS[name](np.zeros((3, 1, 0)), np.zeros((1, 2, 0)), np.float32(0.5))
    assert sums.tolist() == [[0.5, 0.5]] * 3


def test_each_unit_multiplies_the_formats_of_its_instructions() -> None:
    """VDPBF16PS; TDPBF16PS and TDPFP16PS (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2)."""
    assert {name: set(FACTORS[name]) for name in UNITS} == {"avx512_bf16": {"bfloat16"}, "amx": {"bfloat16", "float16"}}


@pytest.mark.parametrize("name", UNITS)
def test_zeros_keep_their_sign_and_what_is_no_number_stays_none(name: str) -> None:
    a = np.zeros(32, np.float32)
    assert np.signbit(UNITS["avx512_bf16"](a[:2], -np.ones(2, np.float32), np.float32(-(2.0**-140))))
    a[5] = np.inf
    assert UNITS[name](a, np.ones(32, np.float32), np.float32(1.0)) == np.inf
    a[8] = -np.inf
    assert np.isnan(UNITS[name](a, np.ones(32, np.float32), np.float32(1.0)))


def test_lengths_that_no_instruction_takes_are_refused() -> None:
    c = np.float32(0)
    odd, even = np.ones(3, np.float32), np.ones(34, np.float32)
    assert "dot_avx512_bf16: a: expected a multiple of 2 numbers, got 3" in str(
        error_of(ValueError, dot_avx512_bf16, odd, odd, c)
    )
    assert "dot_amx: a: expected a multiple of 32 numbers, got 34" in str(error_of(ValueError, dot_amx, even, even, c))
    said = "dot_amx: b: expected (34,) numbers as in a, got (3,)"
    assert str(error_of(ValueError, dot_amx, np.ones((2, 34)), np.ones((2, 3)), c)) == said


@pytest.mark.parametrize("name", UNITS)
@pytest.mark.parametrize(("below", "left"), [(150, 0.0), (151, 2.0**-126), (152, 2.0**-126)])
def test_what_is_rounded_to_the_smallest_normal_number_is_kept(name: str, below: int, left: float) -> None:
    """2^-126 less a power of two: half a step below it is a tie, which goes to even."""
    a, b = np.zeros((2, 32)), np.zeros((2, 32))
    a[:, 1], b[:, 1] = [2.0**-70, -(2.0**-70)], 2.0**-56
    a[:, 3], b[:, 3] = [-(2.0 ** (60 - below)), 2.0 ** (60 - below)], 2.0**-60
    sums = UNITS[name](a, b, np.zeros(2, np.float32))
    assert sums.tolist() == [left, -left]


@pytest.mark.parametrize("name", UNITS)
def test_factors_may_be_of_any_type_that_holds_them(name: str) -> None:
    """256 * 256 is past the largest number of float16, and past that of int16."""
    for dtype in (np.float16, np.int16):
        a = np.full(32, 256, dtype)
        assert UNITS[name](a, a, np.zeros((), dtype)) == 2.0**21
