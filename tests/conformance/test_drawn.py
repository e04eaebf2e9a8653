"""Numbers that are rounded at random: as far off as the noise says, up and down, and exact from there on."""

from __future__ import annotations

from typing import Any

import numpy as np

import reference
from conformance.noise import exact
from conformance.noise.drawn import Drawn, Signs, drawing
from conformance.verdict import judge

A = np.arange(1, 13, dtype=np.float32).reshape(3, 4) / np.float32(7.3)


def test_every_result_moves_by_its_sigma_up_or_down() -> None:
    for compute in (lambda x: x * x, lambda x: x @ np.swapaxes(x, 0, 1), lambda x: np.sum(x, axis=0), np.exp):
        wanted: Any = compute(exact(A))
        moved = [(compute(kind.of(A)).v - wanted.v) / wanted.sigma for kind in map(drawing, range(16))]
        assert {-1, 1} == set(np.rint(moved).ravel())
        # Two roundings of float64, 2^-53 of the value each, in units of a sigma of at least 2^-24 / sqrt(3) of it.
        assert np.max(np.abs(np.abs(moved) - 1)) < 2 * 3**0.5 * 2.0**-29


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


def test_signs_are_the_bits_of_the_words_one_after_the_other() -> None:
    both = Signs(3)
    taken = np.concatenate([both.take((64,)), both.take((2, 32)).ravel()])
    assert np.array_equal(taken, Signs(3).take((128,)))
    assert abs(int(Signs(4).take((4096,)).sum()) - 2048) < 8 * 32  # 8 standard deviations of 4096 throws of a coin


def test_a_draw_is_what_an_honest_implementation_might_give() -> None:
    wanted: Any = reference.softmax(exact(A))
    rms = []
    for seed in range(32):
        verdict = judge("output", wanted, reference.softmax(drawing(seed).of(A)).v.astype(np.float32))
        assert verdict.passed
        rms.append(verdict.rms)
    assert max(rms) > 1 / 2  # as noisy as the noise says, not less
