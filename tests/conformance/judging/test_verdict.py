"""What a verdict's averages are held to."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.catalogue.cases import DESIGNED
from conformance.judging.outputs import judge_outputs
from conformance.judging.verdict import judge
from conformance.limits.expectation import expect
from conformance.limits.noise import exact
from reference import random


@pytest.mark.parametrize("id", ["scale/designed/513x-0.5_subnormal", "mul/designed/32769_range_exact"])
def test_numbers_of_few_digits_meet_the_middle_again_and_again(id: str) -> None:
    case = DESIGNED[id]
    arguments = case.arguments()
    factors = [np.float32(value) for value in arguments.values()]
    [verdict] = judge_outputs(
        case.operation, arguments, expect(case.operation, arguments), {"output": factors[0] * factors[1]}
    )
    assert verdict.passed, verdict.reason
    assert verdict.rms > 1


def test_of_other_numbers_the_last_roundings_add_nothing_to_the_limit() -> None:
    a, b = (random.normal(random.stream("verdict", name), 4096).astype(np.float32) for name in "ab")
    expected = exact(a) * exact(b)
    honest = judge("output", expected, a * b)
    assert honest.passed
    assert honest.rms_limit < np.sqrt(1 + 8 * np.sqrt(1 / 4096))
    towards_zero = np.nextafter(a * b, np.float32(0))
    assert not judge("output", expected, towards_zero).passed


def test_what_most_elements_are_equal_to_counts_as_one_error() -> None:
    """Rows of zeros among few others: whatever one of them errs by, nearly all do."""
    source = np.random.default_rng(0)
    a = np.where(np.arange(1025) % 15, np.float32(1.1), source.normal(size=1025)).astype(np.float32)
    products = [(b, a * b) for b in source.normal(size=200).astype(np.float32)]
    errors = [abs(float(got[1]) - float(a[1]) * float(b)) / abs(float(a[1]) * float(b)) for b, got in products]
    b, got = products[int(np.argmax(errors))]
    expected = exact(a) * exact(b)
    held = judge("output", expected, got)
    assert held.passed
    assert held.rms > 1
    apart = exact(a + np.arange(1025, dtype=np.float32) * np.float32(1e-3)) * exact(b)
    assert not judge("output", apart, (apart.v + 1.5 * apart.sigma).astype(np.float32)).passed
