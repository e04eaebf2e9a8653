"""Every order of evaluation lies within the limits: also one with partial products below the normal numbers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import reference
from conformance.catalogue.cases import CASES
from conformance.judging.verdict import judge
from conformance.limits.expectation import expect
from conformance.limits.measure import measure
from conformance.limits.noise import FLOAT32, FORMATS, Arithmetic, Noisy, exact, unevenness, using

Floats = NDArray[Any]  # float32
SMALLEST = np.float32(2.0**-126)


def factors(count: int, seed: int, size: int = 400) -> list[Floats]:
    """Numbers of both ends of the range, whose products are in it."""
    source = np.random.default_rng(seed)
    exponents = source.integers(-120, 100, (count, size)).astype(np.float64)
    exponents[-1] = np.clip(source.integers(-140, 20, size) - exponents[:-1].sum(axis=0), -126, 120)
    fits = np.abs(exponents.sum(axis=0) + 60) < 100
    drawn = (source.normal(size=(count, size)) * 2.0**exponents).astype(np.float32)
    return list(drawn[:, fits])


def multiplied(order: Sequence[Any]) -> Any:
    """From the first to the last, each product rounded."""
    product = order[0]
    for factor in order[1:]:
        product = product * factor
    return product


def share(expected: Any, got: Floats) -> NDArray[Any]:
    return measure(expected, got).share


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_factors_in_every_order_lie_within_the_limits_of_one(count: int) -> None:
    given = factors(count, seed=count)
    with np.errstate(over="ignore", under="ignore"):
        expected = multiplied([exact(f) for f in given])
        for order in itertools.permutations(given):
            got = multiplied(order)
            finite = np.isfinite(got)  # an order may overflow: see the header on what propagates
            assert share(expected[finite], got[finite]).max() <= 1


def test_what_a_mask_hides_is_known_in_every_order() -> None:
    """-inf less a row's largest is -inf: no order rounds it, and its exponential is 0."""
    source = np.random.default_rng(3)
    scores = exact(source.normal(size=(4, 33))) * 0.3
    masked = scores + exact(np.where(np.arange(33) % 3 == 1, -np.inf, source.normal(size=33)))
    powers = np.exp(masked - np.max(masked, axis=1, keepdims=True))
    assert np.isfinite(powers.variance).all()
    assert not powers.v[:, 1::3].any()
    assert not powers.variance[:, 1::3].any()


def test_an_order_that_comes_to_a_subnormal_number_is_off_by_more_than_one_that_does_not() -> None:
    a, b, c = (np.full(1, v, np.float32) for v in (3.3e-20, 1.7e-21, 1.1e30))
    expected = exact(c) * exact(a) * exact(b)
    with np.errstate(under="ignore"):
        assert np.abs(a * b * c - expected.v) > 100 * np.abs(c * a * b - expected.v)
        assert share(expected, a * b * c) < 1
    # The rounding of a * b, half the smallest number there is, is multiplied by c.
    assert expected.worst is not None
    assert expected.worst == pytest.approx(2 * 2.0**-150 * c.astype(np.float64), rel=1e-6)


def test_what_is_no_product_of_three_is_limited_as_by_one_rounding() -> None:
    a, b = np.array([1e-30, 0.3], np.float32), np.array([1.1e-12, 1e-42], np.float32)
    expected: Noisy = exact(a) * exact(b)
    assert np.array_equal(expected.variance, FLOAT32.variance(expected.v))


def test_what_multiplies_a_sum_may_multiply_its_terms() -> None:
    """As in d * up * (s + x): distributed, the products of the terms are subnormal before `up` comes."""
    d, s, x = (np.full(9, v, np.float32) for v in (1.3e-25, 3.1e-16, 2.2e-17))
    up = np.linspace(1e18, 9e18, 9, dtype=np.float32)
    terms: Any = exact(d) * exact(up) * (exact(s) * exact(x[:1] * 0 + 1.5) + exact(x) * exact(s[:1] * 0 + 2.5))
    with np.errstate(under="ignore"):
        half, more = np.float32(1.5), np.float32(2.5)
        got = (d * (s * half) + d * (x * more)) * up
        assert share(terms, got).max() <= 1
        assert np.abs(got - terms.v).max() > 10 * np.sqrt(FLOAT32.variance(terms.v)).max()


@pytest.mark.parametrize("alpha", [1e-30, 1e-38])
def test_a_factor_of_a_matrix_product_may_be_applied_first(alpha: float) -> None:
    source = np.random.default_rng(1)
    A, B = ((source.normal(size=shape) * 2.0**e).astype(np.float32) for shape, e in (((5, 40), -20), ((40, 7), 30)))
    scale = np.float32(alpha)
    numbers: Any = exact(scale)
    expected = reference.gemm_nn(exact(A), exact(B), None, numbers, 0.0)
    with np.errstate(under="ignore"):
        for got in ((A * scale) @ B, (A @ B) * scale, np.sum((A * scale)[:, :, None] * B, axis=1)):
            assert share(expected, got).max() <= 1


def test_products_in_a_sum_may_be_subnormal() -> None:
    source = np.random.default_rng(2)
    A, B = ((source.normal(size=shape) * 2.0**-68).astype(np.float32) for shape in ((3, 64), (64, 4)))
    expected: Any = exact(A) @ exact(B)
    with np.errstate(under="ignore"):
        assert share(expected, np.sum(A[:, :, None] * B, axis=1)).max() <= 1


def test_a_partial_product_that_comes_out_exact_is_rounded_in_other_orders() -> None:
    """As AdamW's g * g, where g has few digits: (1 - beta2) * g * g rounds twice."""
    few = np.arange(2049, 4096, 2, dtype=np.float32) * np.float32(2.0**-20)
    rest = np.float32(0.05) + np.linspace(0, 0.01, len(few), dtype=np.float32)
    expected: Any = exact(rest) * np.square(exact(few))
    assert not np.square(exact(few)).variance.any()  # type: ignore[attr-defined]
    for got in (rest * few * few, rest * (few * few)):
        assert share(expected, got).max() <= 1


def test_a_product_of_small_whole_numbers_is_exact_in_every_order() -> None:
    a, b, c = (np.random.default_rng(seed).integers(-9, 9, 50).astype(np.float32) for seed in range(3))
    expected: Any = exact(a) * exact(b) * exact(c)
    assert not expected.variance.any()


def test_a_product_that_is_exact_is_rounded_where_a_number_is_multiplied_in_first() -> None:
    source = np.random.default_rng(3)
    A, B = (source.integers(-4095, 4095, shape).astype(np.float32) for shape in ((50, 1), (1, 60)))
    alpha = np.float32(0.3)
    expected: Any = (exact(A) @ exact(B)) * exact(alpha)
    for got in ((alpha * A) @ B, A @ (alpha * B), alpha * (A @ B)):
        assert share(expected, got).max() <= 1
    assert np.any(np.abs((alpha * A) @ B - expected.v) > FLOAT32.reach(expected.v))  # more than one rounding
    whole: Any = (exact(np.sign(A)) @ exact(B)) * exact(np.float32(300))
    assert not whole.variance.any()  # small whole numbers all the same


# ---- terms that round alike --------------------------------------------------------------------------------------
def added_one_by_one(terms: Floats) -> Floats:
    return np.cumsum(terms, axis=-1, dtype=np.float32)[..., -1]


def alike(count: int) -> Floats:
    """Numbers that differ, by whole last digits of their sum, which is near 2^17: by 2^-6."""
    source = np.random.default_rng(count)
    return (3.003 + source.integers(0, 64, (4, count)) * 2.0**-6).astype(np.float32)


@pytest.mark.parametrize("count", [32, 1000, 32000])
def test_terms_that_differ_by_whole_last_digits_of_the_sum_round_alike(count: int) -> None:
    terms = alike(count)
    expected: Any = np.sum(exact(terms), axis=-1)
    assert share(expected, added_one_by_one(terms)).max() <= 1
    drawn = np.random.default_rng(1).uniform(3, 4, terms.shape).astype(np.float32)
    other: Any = np.sum(exact(drawn), axis=-1)
    assert other.lean is None
    assert share(other, added_one_by_one(drawn)).max() <= 1


def test_the_last_digits_of_float64_do_not_move_what_terms_lean_by() -> None:
    """They differ from machine to machine; limits do not."""
    terms = alike(32000).astype(np.float64)
    near = np.stack([terms * (1 + sign * 2.0**-50) for sign in (-1, 0, 1)])
    half = np.round(near[..., :24000] * 64) / 64 + 2.0**-8  # at the step of the rounding, and the sum near 2^17
    for each in (near, half * (2.0**17 / half.sum(axis=-1, keepdims=True))):
        whole = each.sum(axis=-1, keepdims=True)
        drift = unevenness.lean(
            each, np.float64(each.shape[-1]), whole, lambda part: np.sum(part, axis=-1, keepdims=True)
        )
        assert drift.max() > 0
        assert np.ptp(drift, axis=0).max() <= 1e-6 * drift.max()


@pytest.mark.parametrize("seed", range(12))
def test_sums_that_lose_no_more_than_by_chance_lean_by_nothing_in_any_order(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That is said without a look at the orders, and they say the same."""
    drawn = np.random.default_rng(seed)
    terms = drawn.normal(size=(9, int(drawn.integers(1, 700)))) * 2.0 ** drawn.integers(-80, 80, size=(9, 1))
    rows = terms[:, None, :] * (1, 0, 0.1)[seed % 3] + (seed % 2) * 0.1  # some of them equal, some of them zero
    given = np.float64(rows.shape[-1]), np.max(np.abs(np.cumsum(rows, axis=-1)), axis=-1, keepdims=True)

    def lean(row: int) -> Any:
        others = [lambda: unevenness.of_largest_first(rows[row])]
        add_up: Callable[[Any], Any] = lambda part: np.sum(part, axis=-1, keepdims=True)  # noqa: E731
        return unevenness.lean(rows[row], given[0], given[1][row], add_up, others=others)

    quick = [lean(row) for row in range(len(rows))]
    monkeypatch.setattr(unevenness, "SURELY", np.inf)
    assert np.array_equal(quick, [lean(row) for row in range(len(rows))])


# ---- overflow ----------------------------------------------------------------------------------------------------
def test_where_an_order_comes_to_infinity_nothing_is_known() -> None:
    a, b, c = (np.array([v, 1.0], np.float32) for v in (1e30, 1e20, 1e-20))
    for order in itertools.permutations((a, b, c)):
        with np.errstate(over="ignore"):
            expected = multiplied([exact(f) for f in order])
        assert np.isinf(expected.variance).tolist() == [True, False]


def test_a_reciprocal_that_overflows_leaves_nothing_known() -> None:
    with np.errstate(over="ignore"):
        expected: Any = exact(np.float32(1e-42)) / exact(np.array([1e-42, 1e-30], np.float32))
    assert np.isinf(expected.variance).tolist() == [True, False]


def test_what_the_header_leaves_open_of_adamw_is_unknown() -> None:
    """m_hat past the largest number, and an infinite parameter: inf - lr * decay * inf, or inf times 1 - lr * decay."""
    ones = np.ones(3, np.float32)
    numbers = {name: float(np.float32(v)) for name, v in (("lr", 1e-3), ("beta1", 0.9), ("beta2", 0.95), ("eps", 1e-8))}
    arguments = {"grad": ones, "v": ones, **numbers, "step": 1}
    changed = {"param": np.array([np.inf, 1, 1], np.float32), "m": np.array([1, 3e38, 1], np.float32)}
    for decay in (0.1, 0.0):
        expected = expect("adamw_step", arguments | changed | {"weight_decay": decay})["param"]
        assert np.isfinite(expected.variance).tolist() == [False, False, True]


# ---- what may be flushed -----------------------------------------------------------------------------------------
def flushed(x: Floats) -> Floats:
    return np.where(np.abs(x) < SMALLEST, np.float32(0), x)


def test_a_subnormal_quotient_may_be_zero() -> None:
    """The header: subnormal results of exp, log, power and division may be flushed to zero."""
    x, y = np.array([3e-38, 1e-30, 2.0], np.float32), np.array([1e5, 7e9, 3.0], np.float32)
    expected: Any = exact(x) / exact(y)
    assert share(expected, flushed(x / y)).max() <= 1
    assert expected.sigma[2] == pytest.approx(np.sqrt(2 * FLOAT32.variance(expected.v[2])))


def test_the_reciprocal_of_what_is_divided_by_may_be_flushed() -> None:
    x, y = np.array([1e5, 1.0], np.float32), np.array([3e38, 1e3], np.float32)
    expected: Any = exact(x) / exact(y)
    assert share(expected, x * flushed(1 / y)).max() <= 1
    assert expected.sigma[1] < 1e-9  # 1 / y is a normal number there


def test_a_division_may_come_before_or_after_a_product() -> None:
    x, y, z = (np.full(1, v, np.float32) for v in (2e-33, 3e7, 4e20))
    with np.errstate(under="ignore"):
        for expected in (
            exact(x) / exact(y) * exact(z),
            exact(x) * exact(z) / exact(y),
            exact(x) * (exact(z) / exact(y)),
        ):
            assert share(expected, flushed(x / y) * z).max() <= 1


@pytest.mark.parametrize("function", [np.exp, lambda x: np.power(x, np.float32(2.5))])
def test_a_subnormal_exponential_or_power_may_be_zero(function: Callable[[Any], Any]) -> None:
    x = np.array([-90.0, -100.0], np.float32) if function is np.exp else np.array([1e-16, 3e-17], np.float32)
    expected = np.exp(exact(x)) if function is np.exp else exact(x) ** exact(np.float32(2.5))
    assert share(expected, np.zeros(2, np.float32)).max() <= 1


def test_every_partial_product_may_be_flushed_where_that_is_declared() -> None:
    a, b, c = (np.full(1, v, np.float32) for v in (3.3e-20, 1.7e-21, 1.1e30))
    with using(Arithmetic(flushes=True)):
        assert share(exact(c) * exact(a) * exact(b), np.zeros(1, np.float32)).max() <= 1
    assert share(exact(c) * exact(a) * exact(b), np.zeros(1, np.float32)).max() > 1


def test_a_product_over_nothing_is_exactly_zero() -> None:
    """An expert without rows."""
    A, B = np.zeros((3, 0), np.float32), np.zeros((0, 4), np.float32)
    tiny = np.full((4, 2), 1e-40, np.float32)
    expected: Any = exact(A) @ exact(B) * exact(np.float32(1e-30)) @ exact(tiny)
    assert not expected.v.any()
    assert not expected.variance.any()


# ---- sums --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("terms", [[3.0, -3.0], [0.90625, 0.5625, -0.5625, -0.90625], [7.0, -2.0, -4.5]])
def test_what_is_added_to_an_exact_sum_may_have_been_its_first_term(terms: list[float]) -> None:
    """Also where the terms add up to nothing, so that the result is what was there: its last digits may be lost."""
    first = np.float32(1 / 3)
    rows = np.array(terms, np.float32)[:, None]
    expected = reference.scatter_add(exact(rows), np.zeros(len(terms), np.int32), exact(first.reshape(1, 1)))
    for order in itertools.permutations(terms):
        got = first
        for term in order:
            got = np.float32(got + np.float32(term))
        assert share(expected, got.reshape(1, 1)).max() <= 1
        assert share(expected, np.float32(first + np.float32(sum(terms))).reshape(1, 1)).max() <= 1


def test_nothing_added_to_nothing_is_nothing() -> None:
    zeros = np.zeros((3, 2), np.float32)
    expected: Any = reference.scatter_add(exact(zeros), np.zeros(3, np.int32), exact(np.ones((1, 2), np.float32)))
    assert not expected.variance.any()


# ---- the whole ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("count", [100, 1000, 32000])
def test_single_roundings_have_the_rms_that_chance_gives_them(count: int) -> None:
    """Below the normal numbers of float16 the error of a rounding is uniform, and as large as its sigma says."""
    half = FORMATS["float16"]
    for seed in range(50):
        values = np.random.default_rng(seed).uniform(-1, 1, count).astype(np.float32) * np.float32(half.smallest)
        exactly = values.astype(np.float64) * (1 + 2.0**-40)
        expected = Noisy(exactly, half.variance(exactly), half.variance(exactly) / count, half.reach(exactly))
        verdict = judge("output", expected, values.astype(np.float16).astype(np.float32))
        assert verdict.passed, verdict.reason
        assert verdict.rms == pytest.approx(1, abs=8 * (0.8 / count) ** 0.5)


# ---- formulas ----------------------------------------------------------------------------------------------------
def sigmoid(x: Floats) -> Floats:
    return np.exp(np.minimum(x, np.float32(0))) / (np.float32(1) + np.exp(-np.abs(x)))


def test_gradients_of_swiglu_from_left_to_right_as_the_header_writes_them() -> None:
    """d_output * up * silu'(gate), silu' = s * (1 + gate * (1 - s)): as a plain loop in C has it."""
    case = CASES["swiglu_backward/range/1025"]
    for seed in range(8):
        given = case.arguments(seed)
        gate, up, d_output = given["gate"], given["up"], given["d_output"]
        d_gate, d_up = reference.swiglu_backward(exact(gate), exact(up), exact(d_output))
        with np.errstate(under="ignore", over="ignore"):
            s = sigmoid(gate)
            for factor in (d_output * s * up, d_output * up * s):
                assert share(d_gate, factor * (1 + gate * (1 - s))).max() <= 1
            for got in (d_output * gate * s, d_output * s * gate):
                assert share(d_up, got).max() <= 1


def test_flushed_probabilities_of_a_softmax() -> None:
    given = CASES["softmax/large/2x1025"].arguments(0)["input"]
    with np.errstate(under="ignore"):
        exponentials = np.exp(given - given.max(axis=1, keepdims=True))
        got = flushed(exponentials / exponentials.sum(axis=1, keepdims=True))
    assert share(reference.softmax(exact(given)), got).max() <= 1


def test_a_library_that_flushes_errs_to_one_side_in_all_elements() -> None:
    """Nearly normal probabilities, all of them flushed: the mean of error / sigma is far from 0."""
    logits = np.random.default_rng(0).uniform(-87.4, -87.34, (1, 5000)).astype(np.float32)
    logits[0, 0] = 0
    expected = reference.softmax(exact(logits))
    right = np.exp(logits) / np.sum(np.exp(logits))
    for got in (flushed(right), right):
        verdict = judge("output", expected, got)
        assert verdict.passed, verdict.reason


def _worst_rounded(by: np.float32) -> np.float32:
    """A number whose product with another loses more in rounding than that of 1,000 others."""
    numbers = np.linspace(1, 2, 1000, dtype=np.float32)
    exactly = numbers.astype(np.float64) * float(by)
    relative = np.abs((numbers * by).astype(np.float64) - exactly) / np.abs(exactly)
    return np.float32(numbers[np.argmax(relative)])


def test_equal_numbers_are_rounded_alike() -> None:
    """A moment that is the same everywhere, times its rate, and a little of gradients that differ."""
    by, few = np.float32(0.99), np.random.default_rng(0).normal(size=8193).astype(np.float32) * np.float32(1e-3)
    held = np.full(8193, _worst_rounded(by))
    assert judge("output", exact(held) * exact(by) + exact(few), held * by + few).passed
    varied = held + np.linspace(0, 1e-3, held.size, dtype=np.float32)
    expected = exact(varied) * exact(by) + exact(few)
    to_one_side = (expected.v + 0.7 * np.spacing(varied)).astype(np.float32)
    assert not judge("output", expected, to_one_side).passed


@pytest.mark.parametrize("wide", [(1, 65537), (65537, 1)], ids=str)
def test_a_product_of_matrices_may_be_scaled_before_it_is_computed(wide: tuple[int, int]) -> None:
    by, source = np.float32(-1.7), np.random.default_rng(0)
    few = np.full((1, 1), _worst_rounded(by))
    many = source.normal(size=max(wide)).astype(np.float32)
    A, B = (few, many[None, :]) if wide[0] == 1 else (many[:, None], few)
    scaled = (few * by) @ many[None, :] if wide[0] == 1 else many[:, None] @ (few * by)
    assert judge("C", exact(A) @ exact(B) * exact(by), scaled).passed


def test_equal_columns_are_summed_alike() -> None:
    by = np.float32(0.99)
    A, B = np.full((1, 1), _worst_rounded(by)), np.full((1, 32769), by)
    few = np.random.default_rng(0).normal(size=B.shape).astype(np.float32) * np.float32(1e-3)
    assert judge("C", exact(A) @ exact(B) + exact(few), A @ B + few).passed


def test_a_difference_may_be_multiplied_out() -> None:
    source = np.random.default_rng(0)
    a, c, d = (source.normal(size=4000).astype(np.float32) for _ in range(3))
    b = np.nextafter(a, np.float32(9))
    expected = (exact(a) * exact(d) - exact(b) * exact(d)) * exact(c)
    got = (a * d) * c - (b * d) * c
    assert share(expected, got).max() <= 1
    assert share(expected, got + 30 * np.abs(a * c * d) * np.float32(2**-24)).max() > 1


def test_a_difference_of_products_that_came_out_exact_may_be_multiplied_out() -> None:
    """Of numbers with eight digits, as those of bfloat16 are: a product of two has sixteen, and is not rounded."""
    source = np.random.default_rng(0)
    a, b = (exact(source.integers(128, 256, 4000).astype(np.float32)) for _ in range(2))
    c = source.normal(size=4000).astype(np.float32)
    cancelling = (a * b - b * a) * exact(c)
    assert not cancelling.v.any()
    rounded_each = (a.v * b.v).astype(np.float32) * np.stack([c, np.nextafter(c, np.float32(9))])
    assert share(cancelling, rounded_each[0] - (a.v.astype(np.float32) * c) * b.v.astype(np.float32)).max() <= 1
    assert share(cancelling, 4 * (rounded_each[1] - rounded_each[0])).max() > 1


def test_numbers_that_an_array_is_multiplied_by_may_be_multiplied_first() -> None:
    by, again = np.float32(1.1), _worst_rounded(np.float32(1.1))
    array = np.random.default_rng(0).normal(size=8193).astype(np.float32)
    expected = exact(array) * exact(by) * exact(again)
    for got in (array * by * again, array * (by * again)):
        assert judge("output", expected, got).passed
    assert not judge("output", exact(array) * exact(np.float32(by)), array * np.nextafter(by, np.float32(9))).passed


def test_another_order_rounds_where_two_addends_came_out_exact() -> None:
    """146 = 77 + 69 is exact here; 77 + 12.9 and its sum with 69 are not, and both are rounded."""
    a, b = (np.full(3, v, np.float32) for v in (-77.361244, -68.7624))
    assert a[0] + b[0] == np.float64(a[0]) + np.float64(b[0])
    c = np.array([12.872778, 3.3, 0.0], np.float32)
    expected = (exact(a) + exact(b)) + exact(c)
    for got in ((a + c) + b, (b + c) + a, (a + b) + c):
        assert share(expected, got).max() <= 1
    assert expected.sigma[2] == 0.0


def test_sums_of_few_digits_stay_exact_in_any_order() -> None:
    a, b, c = (exact(np.array(v, np.float32)) for v in ([3.0, 0.5], [5.0, -2.5], [-7.0, 0.25]))
    assert not ((a + b) + c).variance.any()
