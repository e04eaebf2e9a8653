"""Rounding at random: to a neighbour, without bias, by draws that are those of the header."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import reference
from conformance.catalogue.oracles.sixteen import word
from reference.ops.rounding import drawn, draws

FORMATS = pytest.mark.parametrize("dtype", [np.dtype(ml_dtypes.bfloat16), np.dtype(np.float16)], ids=str)


def test_draws_are_the_upper_bits_of_the_header_s_words() -> None:
    found = draws(7, 3, (2, 2))
    assert found.reshape(-1).tolist() == [word(word(7, 3), e) >> 48 for e in range(4)]
    assert word(0, 0) == 0xE220A8397B1DCDAF  # splitmix64's first number from 0


@FORMATS
@pytest.mark.parametrize("size", [1.0, 2.0**-16])
def test_the_mean_of_all_draws_is_the_number(dtype: Any, size: float) -> None:
    """Each of the 2^16 draws once: the mean is off by what is cut off of the dropped part, below 2^-16 of a step."""
    every = np.arange(2.0**16)
    for x in np.array([1 + 2.0**-12, -1.3, 1.999], np.float32) * np.float32(size):
        stored = drawn(np.full(every.shape, x, np.float32), dtype, every).astype(np.float64)
        step = float(stored.max() - stored.min())
        assert stored.min() <= x <= stored.max()
        assert step > 0
        assert abs(stored.mean() - float(x)) <= step * 2.0**-16


@FORMATS
def test_as_many_draws_round_away_as_the_dropped_part_has_units(dtype: Any) -> None:
    """Of 2^16 draws floor(2^16 f), f the share of a step that is dropped else: here a power of two."""
    away = drawn(np.full(1 << 16, 1 + 2.0**-12, np.float32), dtype, np.arange(2.0**16)).astype(np.float64) > 1
    assert away.sum() == 2 ** (16 - 12 + (10 if dtype == np.float16 else 7))


@FORMATS
def test_what_the_format_holds_stays_and_what_is_too_large_is_infinite(dtype: Any) -> None:
    held = np.array([0.0, -0.0, 1.5, -np.inf, np.inf, np.nan, 65280.0], np.float32)
    for r in (0.0, 65535.0):
        stored = drawn(held, dtype, np.full(held.shape, r)).astype(np.float32)
        assert np.where(np.isnan(stored), 0, stored.view(np.uint32)).tolist() == (
            np.where(np.isnan(held), 0, held.view(np.uint32)).tolist()
        )
    assert np.isinf(drawn(np.array([3.4028235e38], np.float32), dtype, np.array([65535.0])).astype(np.float32))


def test_small_steps_add_up_where_rounding_to_nearest_stands_still() -> None:
    """A thousand steps of a sixteenth of bfloat16's: to nearest the copy never moves."""
    param, state = np.ones(64, np.float32), np.zeros(64, np.float32)
    given: dict[str, Any] = {"weight_decays": [0.0], "grad_scale": np.ones(1, np.float32), "lr": 2.0**-11}
    given |= {"beta1": 0.0, "beta2": 0.0, "eps": 0.0, "step": 1}
    found = {}
    for seed in (0, 1):
        copy = param
        for step in range(1000):
            lists = [[copy], [-param], [state], [state], [copy]]
            *_, [copy] = reference.multi_adamw_bf16(*lists, **given, seed=seed and seed + step)  # type: ignore[attr-defined]
            copy = copy.astype(np.float32)
        found[seed] = float(copy.mean())
    assert found[0] == 1.0
    # Each step is of 2^-7 or none, with probability 1/16: the mean of 64 copies is 8 standard deviations off at most.
    deviation = np.sqrt(1000 * 1 / 16 * 15 / 16 / 64) * 2.0**-7
    assert abs(found[1] - (1 + 1000 * 2.0**-11)) < 8 * deviation
