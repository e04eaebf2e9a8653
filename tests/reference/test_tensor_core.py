"""The reference's matrix units against what tensor cores computed, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from reference.tensor_core import FORMATS, FP8, dot, matrix_unit
from tests.tensor_core_vectors import ALL, Dots, as_bits, as_numbers


@pytest.mark.parametrize("dots", ALL, ids=lambda dots: dots.name)
def test_every_bit_is_that_of_the_device(dots: Dots) -> None:
    a, b = (as_numbers(x, dots.operands) for x in (dots.a, dots.b))
    got = dot(a, b, as_numbers(dots.c, dots.result), dots.operands, dots.unit, dots.result)
    assert np.array_equal(as_bits(got, dots.result), dots.d)


def test_every_kind_of_device_and_format_is_there() -> None:
    assert {(dots.architecture, dots.operands) for dots in ALL} >= {
        *((architecture, "float16") for architecture in (70, 80, 86, 89, 90, 100)),
        *((architecture, format) for architecture in (80, 86, 89, 90, 100) for format in ("bfloat16", "tf32")),
        *((architecture, format) for architecture in (89, 90, 100) for format in ("e4m3", "e5m2")),
    }
    assert {dots.result for dots in ALL} == {"float32", "float16"}


def test_of_fp8_the_format_of_more_digits_comes_first() -> None:
    assert [FORMATS[name].fraction for name in FP8] == [3, 2]


@pytest.mark.parametrize("architecture", [90, 100])
def test_fp8_by_halves_adds_half_of_an_instruction_s_32_products_at_once(architecture: int) -> None:
    unit = matrix_unit(architecture, "e4m3")
    assert (unit.by_halves, unit.length) == (True, 32 // 2)


def test_architectures_differ_where_their_parameters_do() -> None:
    a, b, c = np.array([[1.0, 2.0**-12] + [0.0] * 6]), np.array([[1.0, 2.0**-12] + [0.0] * 6]), np.array([-1.0])
    found = {sm: float(dot(a, b, c, "float16", matrix_unit(sm, "float16"))[0]) for sm in (70, 75, 80, 90)}
    assert found == {70: 0.0, 75: 2.0**-24, 80: 2.0**-24, 90: 2.0**-24}
    a[0, 1] = 2.0**-13
    assert [float(dot(a, b, c, "float16", matrix_unit(sm, "float16"))[0]) for sm in (80, 90)] == [0.0, 2.0**-25]


@pytest.mark.parametrize("architecture", [70, 80, 90])
@pytest.mark.parametrize("c", [np.nextafter(np.float32(2.0**-126), np.float32(1)), np.float32(2.0**-149)])
def test_the_last_digit_of_the_smallest_sums_is_kept(c: np.float32, architecture: int) -> None:
    nothing = np.zeros((1, 8))
    assert dot(nothing, nothing, c[None], "float16", matrix_unit(architecture, "float16")).tolist() == [c]


@pytest.mark.parametrize(("architecture", "operands"), [(70, "bfloat16"), (75, "tf32"), (80, "e4m3"), (61, "float16")])
def test_what_an_architecture_lacks_is_refused(architecture: int, operands: str) -> None:
    with pytest.raises(ValueError, match=f"matrix_unit: .*got {architecture if architecture == 61 else operands}"):
        matrix_unit(architecture, operands)


def test_what_an_architecture_multiplies_is_named_in_the_order_in_which_it_came() -> None:
    with pytest.raises(ValueError, match="expected one of float16, bfloat16, tf32 on sm_80, got e4m3"):
        matrix_unit(80, "e4m3")
