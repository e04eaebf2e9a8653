"""Loss scaling: how the scale moves, and what it leaves alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference
from reference.step import accumulate
from tests.reference.model_samples import SMALL, batch, parameters
from training.precision import DYNAMIC, FLOAT32, NONE, Scaler, Scaling, fixed

SHORT = Scaling(start=4.0, interval=3, floor=2.0, ceiling=8.0)


def test_it_starts_and_moves_as_published() -> None:
    assert (DYNAMIC.begin().scale, DYNAMIC.growth, DYNAMIC.interval, DYNAMIC.backoff) == (2.0**16, 2, 2000, 0.5)
    assert DYNAMIC.floor < DYNAMIC.start < DYNAMIC.ceiling
    assert fixed().begin().scale == 2.0**15


def followed(scaling: Scaling, finite: str) -> list[Scaler]:
    """Where the scale stands after each update: + was finite, - was not."""
    scaler, found = scaling.begin(), []
    for one in finite:
        scaler = scaling.after(scaler, one == "+")
        found.append(scaler)
    return found


def test_it_grows_after_so_many_good_updates_in_a_row() -> None:
    assert [s.scale for s in followed(SHORT, "+++++++++")] == [4, 4, 8, 8, 8, 8, 8, 8, 8]
    assert [s.scale for s in followed(SHORT, "++-+++")] == [4, 4, 2, 2, 2, 4]


def test_it_shrinks_after_each_bad_one_and_counts_those_skipped() -> None:
    assert followed(SHORT, "---") == [Scaler(2, 0, 1), Scaler(2, 0, 2), Scaler(2, 0, 3)]


def test_a_fixed_scale_stays() -> None:
    assert {s.scale for s in followed(fixed(2.0**15), "+-" * 3000)} == {2.0**15}
    assert {s.scale for s in followed(NONE, "+-" * 3000)} == {1.0}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"start": 3.0}, "Scaling: start: expected a power of two, got 3.0"),
        ({"start": float("nan")}, "Scaling: start: expected a power of two, got nan"),
        ({"growth": 0.5}, "Scaling: growth: expected at least 1, got 0.5"),
        ({"backoff": 2.0}, "Scaling: backoff: expected at most 1, got 2.0"),
        ({"interval": 0}, "Scaling: interval: expected at least 1, got 0"),
        ({"start": 1.0, "floor": 2.0}, r"Scaling: start: expected from floor = 2 to ceiling = 1.67772e\+07, got 1.0"),
    ],
)
def test_what_no_scaling_can_be_is_refused(changed: dict[str, Any], expected: str) -> None:
    with pytest.raises(ValueError, match=f"^{expected}$"):
        Scaling(**changed)


@pytest.mark.parametrize("exponent", [-8, 1, 16, 24])
def test_scaling_by_a_power_of_two_and_back_changes_no_bit(exponent: int) -> None:
    plain = accumulate(reference, SMALL, parameters(dtype=np.float32), *batch(), micro_batches=2)
    scaled = accumulate(
        reference, SMALL, parameters(dtype=np.float32), *batch(), micro_batches=2, loss_scale=2.0**exponent
    )
    unscaled = FLOAT32.unscaled(reference, scaled.gradients, 2.0**exponent)
    assert plain.loss.total == scaled.loss.total
    for name, gradient in plain.gradients.items():
        assert (gradient == unscaled[name]).all(), name
        assert (gradient != scaled.gradients[name]).any(), name
