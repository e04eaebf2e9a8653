"""Honest computations that first-order, independent errors do not cover: each was a false alarm once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import reference
from conformance.judging import outputs
from conformance.judging.verdict import judge
from conformance.limits.expectation import expect
from conformance.limits.measure import limits, measure
from conformance.limits.namespaces import Stored
from conformance.limits.noise import FORMATS, Noisy, exact

Floats = NDArray[Any]
UNIT = 2.0**-24
FLOAT16 = FORMATS["float16"]


def drawn(seed: int, *shape: int) -> Floats:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def off_by(value: float, error: float) -> Any:
    """A number that errs by so much at the most."""
    array = np.full(1, value)
    return Noisy(array, np.full(1, (error / 8) ** 2), np.zeros(1), np.full(1, error / 2))


# ---- exp of what errs by much --------------------------------------------------------------------------------------
@pytest.mark.parametrize("error", [0.01, 0.3, 2.0, 20.0])
def test_exp_of_a_number_may_be_off_by_all_that_its_error_makes(error: float) -> None:
    expected = np.exp(off_by(3.0, error))
    assert measure(expected, np.exp(np.full(1, 3.0 + 0.99 * error)).astype(np.float32)).share <= 1
    assert measure(expected, np.exp(np.full(1, 3.0 + 1.3 * error)).astype(np.float32)).share > 1


def test_where_the_error_may_take_exp_past_the_largest_number_nothing_is_known() -> None:
    assert np.isinf(np.exp(off_by(80.0, 10.0)).variance).all()  # type: ignore[attr-defined]
    assert np.isfinite(np.exp(off_by(80.0, 5.0)).variance).all()  # type: ignore[attr-defined]


def test_a_difference_past_the_range_has_an_exponential_of_zero() -> None:
    """softmax of numbers near overflow: x - max may be -inf, or not."""
    logits = np.array([[3.0e38, -3.0e38, 2.9e38]], np.float32)
    expected = expect("softmax", {"input": logits})
    assert outputs.passes("softmax", {"input": logits}, expected, {"output": np.array([[1, 0, 0]], np.float32)})
    assert all(map(outputs.is_known, expected.values()))


def test_the_product_of_two_numbers_that_are_lost_in_their_errors_may_come_to_the_product_of_these() -> None:
    product = off_by(0.0, 5.0) * off_by(0.0, 3.0)
    assert measure(product, np.full(1, 15.0, np.float32)).share <= 1


def test_a_log_sum_exp_errs_by_no_more_than_its_scores() -> None:
    """Scores of millions err by more than 1 each; so does their log-sum-exp, and by no power of e."""
    scores = exact(drawn(7, 1, 40) * np.float32(100)).replaced(variance=np.full((1, 40), 4.0), worst=None)
    total: Any = np.log(np.sum(np.exp(scores - np.max(scores.v)), axis=-1))
    assert 2.0 < total.sigma < 8.0


def test_weights_of_scores_that_err_by_much_lie_between_0_and_1() -> None:
    scores = exact(drawn(8, 2, 40) * np.float32(10)).replaced(variance=np.full((2, 40), 4.0), worst=None)
    weights: Any = np.exp(scores - np.max(scores.v, axis=-1, keepdims=True))
    weights = weights / np.sum(weights, axis=-1, keepdims=True)
    assert np.all(limits(weights)[0] <= 1)
    for seed in range(50):
        off = np.exp(scores.v + 2 * drawn(seed, 2, 40).astype(np.float64))
        assert measure(weights, (off / off.sum(axis=-1, keepdims=True)).astype(np.float32)).share.max() <= 1
    small = exact(scores.v).replaced(variance=np.full((2, 40), 1e-14), worst=None)
    exponentials: Any = np.exp(small - np.max(small.v, axis=-1, keepdims=True))
    assert np.all(limits(exponentials / np.sum(exponentials, axis=-1, keepdims=True))[0] < 1e-5)


# ---- errors that a row has in common -------------------------------------------------------------------------------
def test_an_error_of_a_number_of_the_row_is_added_up_before_it_is_squared() -> None:
    """sum_j P_j (x_j - D) y_j, D off by one rounding: its share of the sum is sum_j P_j y_j, however many terms."""
    terms = 4096
    weights, rows = np.full((1, terms), 1 / terms), drawn(0, 1, terms)
    mean = exact(np.full((1, 1), 1.0)) * exact(np.full((1, 1), 1 + 2.0**-20 + 2.0**-22))
    mean = mean.replaced(variance=np.full((1, 1), UNIT**2), worst=None)
    summed = (exact(weights) * (exact(rows) - mean)) @ exact(np.ones((terms, 1)))
    assert summed.variance > UNIT**2
    apart = (weights**2).sum() * UNIT**2  # what it would be if every term had a number of its own
    assert summed.variance > 100 * apart


def test_an_error_that_cancels_in_the_sum_counts_no_less_than_independent_ones() -> None:
    mean = exact(np.ones((1, 1))).replaced(variance=np.full((1, 1), UNIT**2), worst=None)
    turns = exact(np.array([[1.0, -1.0] * 8]).T)
    summed = (exact(np.zeros((1, 16))) - mean) @ turns
    assert summed.variance >= 16 * UNIT**2


# ---- three numbers in any order ------------------------------------------------------------------------------------
def test_three_numbers_may_be_added_in_any_order() -> None:
    """log_probs = x - (max + log(sum)): (x - max) - log(sum) rounds twice at the size of x."""
    a, b = (drawn(seed, 4000) * np.float32(300) for seed in (1, 2))
    c = np.float32(0.3) + np.abs(drawn(3, 4000))
    expected: Any = exact(a) - (exact(b) + exact(c))
    for got in ((a - b) - c, (a - c) - b, a - (b + c)):
        assert measure(expected, got).share.max() <= 1
    assert measure(expected, (a - b) - c + np.spacing(a) * 2).share.max() > 1


def test_what_was_stored_between_two_sums_is_added_in_no_other_order() -> None:
    a, b, c = (drawn(seed, 400) * np.float32(1000) for seed in (4, 5, 6))
    joined: Any = exact(a) + exact(b) + exact(c)
    stored: Any = Stored().add(Stored().add(exact(a), exact(b)), exact(c))
    assert np.all(stored.variance <= joined.variance)
    assert np.any(stored.variance < joined.variance)


# ---- infinity times what may be zero -------------------------------------------------------------------------------
@pytest.mark.parametrize(("gate", "is_open"), [(-144.25, True), (-2.0, False), (-1e-45, True), (2.0, False)])
def test_infinity_times_a_product_that_may_be_lost_is_open(gate: float, is_open: bool) -> None:
    arguments = {"gate": np.full(1, gate, np.float32), "up": np.full(1, np.inf, np.float32)}
    expected = expect("swiglu", arguments)
    sign = np.float32(np.copysign(np.inf, gate))
    assert outputs.passes("swiglu", arguments, expected, {"output": np.full(1, sign)})
    assert outputs.passes("swiglu", arguments, expected, {"output": np.full(1, np.nan, np.float32)}) == is_open


@pytest.mark.parametrize(("pre", "is_open"), [(12.0, True), (0.5, False)])
def test_a_sum_of_infinity_times_a_difference_that_may_be_nothing_is_open(pre: float, is_open: bool) -> None:
    """1 - tanh(12)^2 is 1.5e-10 in float64 and 0 in float32: infinity times it is infinite, or no number."""
    x, d = (exact(np.array([[value, 1.0]]), True) for value in (pre, 1.0))
    d_pre = reference.tanh_backward(reference.tanh(x), d)
    with np.errstate(invalid="ignore"):
        sums = d_pre @ exact(np.array([[np.inf, 1.0], [1.0, 2.0]]), True)
        missing = d_pre @ exact(np.array([[np.inf], [np.nan]]), True)
    assert np.isinf(sums.variance).tolist() == [[is_open, False]]
    assert np.isinf(sums.v[0, 0]) != is_open
    assert np.isnan(missing.v).all()  # whatever the first term is


def test_infinity_beside_what_may_be_the_other_infinity_is_open() -> None:
    """0.5 * (A . B) is inf where an order keeps the subnormal factor, NaN where one flushes it, and C is inf."""
    A = np.array([[np.inf], [2.0**-149]], np.float32)
    B, C = np.full((2, 1), 16, np.float32), np.full((1, 1), np.inf, np.float32)
    expected = expect("gemm_tn", {"A": A, "B": B, "C": C, "alpha": 0.5, "beta": -1.0})["C"]
    assert np.isinf(expected.variance).all()


# ---- equal terms, equal scores -------------------------------------------------------------------------------------
def test_equal_products_of_a_sum_are_rounded_alike() -> None:
    row, column = np.full((1, 300), 0.1, np.float32), np.full((300, 1), 0.7, np.float32)
    got = np.zeros(1, np.float32)
    for place in range(300):
        got = got + row[:, place] * column[place]
    expected: Any = exact(row) @ exact(column)
    assert np.abs(got - expected.v[0]) < 4 * expected.sigma[0]


def product_of(row: Any, column: Any) -> Any:
    return row @ column


def sum_of_products(row: Any, column: Any) -> Any:
    return np.sum(row * column.T, axis=-1, keepdims=True)


@pytest.mark.parametrize("count", [2, 17, 300, 4097])
@pytest.mark.parametrize("times", [3, 1023])
@pytest.mark.parametrize("summed", [product_of, sum_of_products])
def test_equal_products_below_the_normal_numbers_are_rounded_alike(summed: Any, times: int, count: int) -> None:
    """Their sum is exact: it is off by as often what one is."""
    least = np.float32(2.0**-149)
    row, column = np.full((1, count), 1.4990234, np.float32), np.full((count, 1), times * least, np.float32)
    one = row[0, 0] * column[0, 0]
    got = np.full((1, 1), one * np.float32(count), np.float32)
    expected: Any = summed(exact(row), exact(column))
    assert measure(expected, got).share.max() < 1
    assert measure(expected, got + 32 * least * np.float32(count)).share.min() > 1


@pytest.mark.parametrize("seed", range(5))
def test_terms_of_which_most_are_equal_are_rounded_alike(seed: int) -> None:
    """Logits of which most are 0, and another is the largest: their exponentials are added one by one."""
    logits = drawn(seed, 60, 255)
    logits[np.random.default_rng(seed).random(logits.shape) < 0.8] = 0
    exponentials = np.exp(logits - logits.max(axis=-1, keepdims=True))
    total = np.zeros((60, 1), np.float32)
    for column in exponentials.T:
        total = total + column[:, None]
    expected = expect("softmax", {"input": logits})
    assert outputs.passes("softmax", {"input": logits}, expected, {"output": exponentials / total})


def test_results_next_to_one_number_are_rounded_to_one_side() -> None:
    """Half of float16's last digit is more than the mean of many errors may be, but not where all have it."""
    value = 1 + np.linspace(0.45, 0.49, 400) * 2.0**-10
    expected = Noisy(value, FLOAT16.variance(value), np.zeros(400), FLOAT16.reach(value))
    got = np.ones(400, np.float32)
    assert judge("output", expected, got, stored=FLOAT16).passed
    assert not judge("output", expected, got).passed
    assert not judge("output", expected, got - np.float32(2.0**-10), stored=FLOAT16).passed


@pytest.mark.parametrize(
    ("chosen", "passes"),
    [
        ([0, 1], True),
        ([2, 0], True),
        ([0, 2], True),
        ([2, 1], False),
        ([1, 0], False),
        ([1, 2], False),
        ([0, 0], False),
    ],
)
def test_scores_whose_probabilities_are_equal_may_change_places_but_equal_scores_may_not(
    chosen: list[int], passes: bool
) -> None:
    arguments = {"input": np.array([[1e-40, 1e-40, 2e-40]], np.float32), "k": 2}
    expected = expect("softmax_topk", arguments)
    got = {"weights": np.full((1, 2), 0.5, np.float32), "indices": np.array([chosen], np.int32)}
    assert outputs.passes("softmax_topk", arguments, expected, got) == passes


# ---- what is left open ---------------------------------------------------------------------------------------------
def test_what_nothing_is_known_of_is_not_judged_and_what_is_known_is() -> None:
    arguments = {"gate": np.array([-144.25, 1.0], np.float32), "up": np.array([np.inf, 1.0], np.float32)}
    expected = expect("swiglu", arguments)
    right = np.array([np.nan, 0.7310586], np.float32)
    (verdict,) = outputs.judge_outputs("swiglu", arguments, expected, {"output": right})
    assert verdict.passed
    assert (verdict.elements, verdict.left_open) == (2, 1)
    assert not judge("output", expected["output"], right).passed  # but where the caller says that there may be some
    (verdict,) = outputs.judge_outputs("swiglu", arguments, expected, {"output": right + np.float32(1e-6)})
    assert not verdict.passed
    assert verdict.index == (1,)
