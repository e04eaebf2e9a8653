"""Numbers that are rounded at random: as far off as the noise says, either way, and exact from there on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference
from conformance.judging.verdict import judge
from conformance.limits.noise import exact
from conformance.limits.noise.drawn import Drawn, Errors, drawing

A = np.arange(1, 13, dtype=np.float32).reshape(3, 4) / np.float32(7.3)


@pytest.mark.parametrize(
    "compute", [lambda x: x * x, lambda x: x @ np.swapaxes(x, 0, 1), lambda x: np.sum(x, axis=0), np.exp]
)
def test_every_result_moves_by_an_error_drawn_in_units_of_its_sigma(compute: Any) -> None:
    wanted: Any = compute(exact(A))
    for seed in range(4):
        moved = (compute(drawing(seed).of(A)).v - wanted.v) / wanted.sigma
        # Two roundings of float64, 2^-53 of the value each, in units of a sigma of at least 2^-24 / sqrt(3) of it.
        assert np.max(np.abs(moved - Errors(seed).take(wanted.shape))) < 2 * 3**0.5 * 2.0**-29


def test_what_needs_no_rounding_is_not_rounded() -> None:
    x = drawing(1).of(A)
    for same in (x * 2.0, x + 0.0, x.reshape(4, 3), np.swapaxes(x, 0, 1), np.concatenate([x, x])):
        assert isinstance(same, Drawn)
        assert not same.variance.any()
    assert np.array_equal((x * 2.0).v, A.astype(np.float64) * 2)


def test_one_seed_is_one_computation() -> None:
    first, again, other = (reference.softmax(drawing(seed).of(A)).v for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_errors_are_uniform_and_come_one_after_the_other() -> None:
    some = Errors(3)
    taken = np.concatenate([some.take((64,)), some.take((2, 32)).ravel()])
    assert np.array_equal(taken, Errors(3).take((128,)))
    many = Errors(4).take((4096,))
    assert np.max(np.abs(many)) < 3**0.5
    # 8 standard deviations of the mean of 4096 numbers of variance 1, and of their squares' (variance 4/5).
    assert abs(np.mean(many)) < 8 / 64
    assert abs(np.mean(many**2) - 1) < 8 * 0.8**0.5 / 64


def test_a_draw_is_what_an_honest_implementation_might_give() -> None:
    wanted: Any = reference.softmax(exact(A))
    rms = []
    for seed in range(32):
        verdict = judge("output", wanted, reference.softmax(drawing(seed).of(A)).v.astype(np.float32))
        assert verdict.passed
        rms.append(verdict.rms)
    assert max(rms) > 1 / 2  # as noisy as the noise says, not less
