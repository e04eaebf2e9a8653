"""What positive terms of many sizes lose, added up one by one as float32 is, to nearest: that is no mistake."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from conformance.judging.outputs import judge_outputs
from conformance.judging.verdict import judge
from conformance.limits.expectation import expect
from conformance.limits.noise import unevenness

Floats = NDArray[Any]
ROWS, COLUMNS, TERMS = 64, 20, 4000


def positive(shape: tuple[int, ...], digits: int, seed: int) -> Floats:
    """Numbers of so many binary digits, from 2^-6 to 2^6."""
    source = np.random.default_rng(seed)
    significands = np.round((1 + source.random(shape)) * 2.0 ** (digits - 1)) * 2.0 ** (1 - digits)
    return np.asarray(significands * 2.0 ** source.integers(-6, 7, shape), np.float32)


def to_nearest(total: Floats, term: Floats) -> Floats:
    """total + term, where term has digits enough to lose."""
    return (total.astype(np.float64) + term).astype(np.float32)


def toward_zero(total: Floats, term: Floats) -> Floats:
    exact = total.astype(np.float64) + term
    nearest = exact.astype(np.float32)
    return np.where(nearest > exact, np.nextafter(nearest, np.float32(0)), nearest)


def added_one_by_one(terms: Floats, add: Callable[[Floats, Floats], Floats]) -> Floats:
    """Sums along the last axis; a fused multiply-add does as much of exact products."""
    total = np.zeros(terms.shape[:-1], np.float32)
    for k in range(terms.shape[-1]):
        total = add(total, terms[..., k])
    return total


def product() -> tuple[str, dict[str, Any], str, Floats]:
    A, B = positive((ROWS, TERMS), 8, 1), positive((COLUMNS, TERMS), 8, 2)
    terms = A[:, None].astype(np.float64) * B[None]
    return "router_gemm_bf16", {"A": A, "B": B, "M": ROWS, "N": COLUMNS, "K": TERMS}, "C", terms


def test_sums_that_drift_as_their_terms_make_them_are_right() -> None:
    operation, arguments, output, terms = product()
    expected, got = expect(operation, arguments), added_one_by_one(terms, to_nearest)
    alone = judge(output, expected[output], got)
    assert not alone.passed, "the drift is beyond what chance explains"
    assert not alone.wrong
    (verdict,) = judge_outputs(operation, arguments, expected, {output: got})
    assert verdict.passed
    assert abs(verdict.bias) > 0.8


def test_sums_cut_off_are_wrong_all_the_same() -> None:
    operation, arguments, output, terms = product()
    got = added_one_by_one(terms, toward_zero)
    (verdict,) = judge_outputs(operation, arguments, expect(operation, arguments), {output: got})
    assert not verdict.passed


def test_of_row_sums_what_is_lost_counts_in_full() -> None:
    rows = positive((16 * ROWS, TERMS), 16, 3) ** 2
    given = {"d_output": rows, "d_column": np.zeros(len(rows), np.float32), "beta": 0.0}
    expected = expect("add_column_backward", {**given, "rows": len(rows), "cols": TERMS})
    assert judge("d_column", expected["d_column"], added_one_by_one(rows, to_nearest)).passed


@pytest.mark.slow
@pytest.mark.parametrize("count", [500, 2000, 8000])
def test_the_drift_is_what_sums_one_by_one_have(count: int) -> None:
    terms = positive((2000, count), 8, count) * positive((2000, count), 8, count + 1)
    got, wanted = added_one_by_one(terms, to_nearest), terms.sum(axis=-1, dtype=np.float64)
    found = unevenness.in_the_mean(terms.astype(np.float64), np.ones(len(terms)))
    # A model of where partial sums lie, less four deviations of a mean of 2,000: ratios are 0.92, 1.00 and 0.99.
    assert found == pytest.approx(-(got - wanted).mean(), rel=0.1)


def test_terms_of_both_signs_do_not_drift() -> None:
    terms = positive((500, 2000), 8, 5) * positive((500, 2000), 8, 6).astype(np.float64)
    signs = np.random.default_rng(4).choice([-1.0, 1.0], terms.shape)
    assert unevenness.in_the_mean(terms, np.ones(500)) > 0
    assert unevenness.in_the_mean(terms * signs, np.ones(500)) == 0
