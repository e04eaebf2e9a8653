"""Sums whose terms stand many times: every order in which float32 may add them stays within the limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from conformance.judging.verdict import judge
from conformance.limits.noise import FORMATS, Arithmetic, Noisy, exact, using
from conformance.limits.noise.counted import counted_from_end, counted_matmul, counted_sum

Array = NDArray[Any]
PLACES, MEMBERS, COLUMNS = 8192, 61, 40


def _one_by_one(terms: Array) -> Array:
    return np.asarray(np.cumsum(terms, axis=0, dtype=np.float32)[-1])


def _in_lanes(terms: Array) -> Array:
    """Sixteen partial sums, each over every sixteenth term, added up at the end."""
    padded = np.concatenate([terms, np.zeros((-len(terms) % 16, *terms.shape[1:]), np.float32)])
    return _one_by_one(_one_by_one(padded.reshape(-1, 16, *terms.shape[1:])))


def _in_pairs(terms: Array) -> Array:
    while len(terms) > 1:
        half = -(-len(terms) // 2)
        front, behind = terms[:half], terms[half:]
        terms = np.concatenate([front[: len(behind)] + behind, front[len(behind) :]])
    return np.asarray(terms[0])


ORDERS: dict[str, Callable[[Array], Array]] = {
    "one by one": _one_by_one,
    "from the end": lambda terms: _one_by_one(terms[::-1]),
    "in lanes": _in_lanes,
    "in pairs": _in_pairs,
}


def _numbers(seed: int, *shape: int, above: float = 0.0) -> Array:
    values = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    return np.abs(values) + np.float32(above) if above else values


def _members(seed: int) -> Array:
    member = np.random.default_rng(seed).integers(0, MEMBERS, PLACES)
    member[:MEMBERS] = np.arange(MEMBERS)
    return member


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("above", [0.0, 1.0])
@pytest.mark.parametrize("signed", [False, True])
def test_a_sum_in_any_order(order: str, above: float, signed: bool) -> None:
    for seed in range(3):
        x, member = _numbers(seed, MEMBERS, COLUMNS, above=above), _members(seed)
        rng = np.random.default_rng(seed + 100)
        factor = (2.0 ** rng.integers(0, 3, PLACES) * rng.choice([-1, 1], PLACES)).astype(np.float32)
        terms = x[member] * factor[:, None] if signed else x[member]
        verdict = judge("sum", counted_sum(exact(x), member, factor if signed else None), ORDERS[order](terms))
        assert verdict.passed, verdict.reason


def test_what_is_counted_is_what_stands_there() -> None:
    x, member = _numbers(0, MEMBERS, COLUMNS), _members(0)
    whole: Any = np.sum(exact(x[member]), axis=0)
    counted = counted_sum(exact(x), member)
    assert judge("sum", counted, whole.v.astype(np.float32)).passed
    assert (counted.sigma >= whole.sigma).all()


def test_a_sum_of_whole_numbers_is_exact() -> None:
    x = np.array([[1.0], [-2.0], [3.0]])
    counted = counted_sum(exact(x), np.array([0, 1, 2, 2, 2]), np.array([1, 2, 1, -1, 4], np.float32))
    assert (counted.v.item(), counted.variance.item()) == (1 - 4 + 3 - 3 + 12, 0.0)


def test_the_error_of_a_term_counts_wherever_it_stands() -> None:
    x = Noisy(np.array([1.0, 2.0]), np.array([0.0, 0.25]), np.zeros(2), np.array([0.0, 1.0]))
    assert counted_sum(x, np.array([0, 1, 1, 1])).variance == pytest.approx(9 * 0.25)
    assert counted_sum(x, np.array([0, 1, 1]), np.array([1.0, 1.0, -1.0])).variance == pytest.approx(0.0)
    product = counted_matmul(x[None], np.array([[1.0], [2.0]]), np.array([[5, 3]]))
    assert product.v.item() == 5 * 1.0 + 3 * 4.0
    assert product.variance.item() == pytest.approx(36 * 0.25)


@pytest.mark.parametrize("order", ORDERS)
def test_a_product_in_any_order(order: str) -> None:
    a, b = _numbers(1, 5, 17, above=0.1), _numbers(2, 17, 40)
    counts = np.random.default_rng(3).integers(1, 300, (5, 17))
    where = [np.random.default_rng(row).permutation(np.repeat(np.arange(17), counts[row])) for row in range(5)]
    got = np.stack([ORDERS[order](a[row][at][:, None] * b[at]) for row, at in enumerate(where)])
    verdict = judge("product", counted_matmul(exact(a), exact(b), counts), got)
    assert verdict.passed, verdict.reason


@pytest.mark.parametrize("order", ["one by one", "from the end", "in lanes", "in pairs"])
def test_sums_from_every_place_on(order: str) -> None:
    x, y, counts = _numbers(4, 300, 3, above=0.1), _numbers(5, 17, 3, 8), np.array([4, 1, 7])
    head, member = np.repeat(np.arange(3), counts), np.random.default_rng(6).integers(0, 17, 300)
    terms = (x[:, :, None] * y[member])[:, head]
    got = np.stack([ORDERS[order](terms[start:].reshape(-1, 8)) for start in range(300)])
    everywhere, some = np.arange(300), np.array([3, 4, 17, 100, 298])
    sums = counted_from_end(exact(x), exact(y), counts, member, everywhere)
    verdict = judge("sums", sums, got)
    assert verdict.passed, verdict.reason
    of_some = counted_from_end(exact(x), exact(y), counts, member, some)
    # Both add up the same float64 numbers, grouped otherwise: a rounding a term of each, of all that is added at most.
    added = {"v": np.abs(terms).sum(), "variance": sums.variance.max(), "shared": sums.shared.max()}
    for part, most in added.items():
        apart = 2 * x.size * 2.0**-53 * float(most)
        np.testing.assert_allclose(getattr(of_some, part), getattr(sums, part)[some], rtol=0.0, atol=apart)


def _shortened(values: Array) -> Array:
    """The factors of a tensor core: ten digits behind the leading one."""
    digits, exponent = np.frexp(values)
    return np.ldexp(np.rint(np.ldexp(digits, 11)), exponent - 11).astype(np.float32)


def test_factors_may_be_rounded_where_that_is_declared() -> None:
    a, b, counts = _numbers(6, 5, 17, above=0.1), _numbers(7, 17, 40), np.full((5, 17), 90)
    where = np.repeat(np.arange(17), 90)
    got = np.stack([_one_by_one(_shortened(row)[where][:, None] * _shortened(b)[where]) for row in a])
    assert not judge("product", counted_matmul(exact(a), exact(b), counts), got).passed
    with using(Arithmetic(inputs=FORMATS["tf32"])):
        assert judge("product", counted_matmul(exact(a), exact(b), counts), got).passed
    x, y, often = _numbers(8, 300, 3, above=0.1), _numbers(9, 300, 3, 8), np.array([4, 1, 7])
    each = np.arange(300)
    terms = (_shortened(x)[:, :, None] * _shortened(y))[:, np.repeat(np.arange(3), often)]
    sums = np.stack([_one_by_one(terms[start:].reshape(-1, 8)) for start in range(300)])
    assert not judge("sums", counted_from_end(exact(x), exact(y), often, each, each), sums).passed
    with using(Arithmetic(inputs=FORMATS["tf32"])):
        assert judge("sums", counted_from_end(exact(x), exact(y), often, each, each), sums).passed
