"""The generator: the same bits everywhere, exact in float32, with the moments it promises."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import random
from tests.errors import error_of

# Values of n independent draws lie this many standard errors from what they estimate less than once in 10^9.
SIGMAS = 6


def test_words_are_those_of_splitmix64() -> None:
    """The first four outputs for seed 1234567, as published with the algorithm."""
    expected = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    assert random.words(1234567, 0, 5).tolist() == expected
    assert random.words(1234567, 2, 2).tolist() == expected[2:4]


def test_the_same_bits_for_ever() -> None:
    values = [
        random.normal(3, (5, 7)),
        random.uniform(3, 11),
        random.integers(3, -4, 9, 11),
        random.permutation(3, 11),
    ]
    digest = hashlib.sha256(b"".join(value.astype("<f8").tobytes() for value in values)).hexdigest()
    assert digest == "bc485ce84a749ed750dcbe2e62eae79e06ef2a6f0c277413d039ebe1e59011e8"


def test_streams_differ_by_every_name_type_and_boundary() -> None:
    seeds = [random.stream(*names) for names in (("ab",), ("a", "b"), ("b", "a"), (1,), ("1",), (1, 2), (12,), ())]
    assert len(set(seeds)) == len(seeds)
    assert random.stream("weight", 3) == random.stream("weight", 3)
    assert all(0 <= seed < 2**64 for seed in seeds)


@given(seed=st.integers(0, 2**64 - 1), n=st.integers(1, 200))
def test_values_are_exact_in_float32_and_do_not_depend_on_the_shape(seed: int, n: int) -> None:
    for draw in (random.uniform, random.normal):
        values = draw(seed, n)
        assert values.dtype == np.float64
        np.testing.assert_array_equal(values.astype(np.float32).astype(np.float64), values)
        np.testing.assert_array_equal(draw(seed, (2, n)).ravel()[:n], values)


def test_large_arrays_are_made_of_the_same_values_as_small_ones() -> None:
    large = random.normal(5, 100_000)
    np.testing.assert_array_equal(large[:7], random.normal(5, 7))
    assert len(np.unique(large[-1000:])) > 900


def test_moments() -> None:
    n = 200_000
    x, u = random.normal(1, n), random.uniform(1, n)
    assert abs(x.mean()) < SIGMAS / n**0.5
    assert abs(x.var() - 1) < SIGMAS * (1.9 / n) ** 0.5  # variance of x^2: kurtosis 2.9 less 1
    assert abs(u.mean() - 0.5) < SIGMAS / (12 * n) ** 0.5
    assert 0 <= u.min() < u.max() < 1
    assert np.abs(x).max() <= 6
    for lag in (1, 2, 3):
        assert abs((x[lag:] * x[:-lag]).mean()) < SIGMAS / n**0.5


@given(
    seed=st.integers(0, 2**64 - 1),
    low=st.integers(-(2**40), 2**40),
    span=st.one_of(st.integers(1, 9), st.integers(1, 2**32)),
)
def test_integers_lie_in_their_range(seed: int, low: int, span: int) -> None:
    values = random.integers(seed, low, low + span, 50)
    assert values.dtype == np.int64
    assert ((values >= low) & (values < low + span)).all()


def test_integers_take_every_value_about_equally_often() -> None:
    n, span = 70_000, 7
    counts = np.bincount(random.integers(2, 0, span, n))
    assert np.abs(counts - n / span).max() < SIGMAS * (n / span) ** 0.5


@pytest.mark.parametrize(("low", "high"), [(3, 3), (3, 2), (0, 2**32 + 1)])
def test_a_range_that_cannot_be_is_refused(low: int, high: int) -> None:
    expected = "expected low < high <= low + 2^32"
    error = error_of(ValueError, random.integers, 0, low, high, 3)
    assert str(error) == f"integers: high: {expected}, got low {low} and high {high}"


def test_the_narrowest_and_the_widest_range() -> None:
    np.testing.assert_array_equal(random.integers(0, 5, 6, 3), [5, 5, 5])
    np.testing.assert_array_equal(random.integers(1, -3, 2**32 - 3, 4), (random.words(1, 0, 4) >> 32).astype(int) - 3)


@given(seed=st.integers(0, 2**64 - 1), n=st.integers(0, 60))
def test_permutations(seed: int, n: int) -> None:
    assert sorted(random.permutation(seed, n).tolist()) == list(range(n))
