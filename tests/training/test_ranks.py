"""Ranks in one process: what they sum and trade, and that together they train as one process does."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import reference
from conformance.judging.verdict import judge
from conformance.limits.namespaces import OnFloat32, converted
from conformance.limits.noise import exact
from conformance.proof.readings.steps import by_name
from reference.step import State, start, training_step
from tests.reference.model_samples import SMALL, parameters
from tests.training.ranks_run import TRAINING, WITHOUT_BALANCE, batch_of, course, trained
from training.precision import Precision
from training.ranks import ALONE, RanksError, Reduction, agree, check_equal, taking_turns, totals
from training.step import Step

SIZES = (1, 2, 4)


@pytest.mark.parametrize("size", SIZES)
def test_every_rank_gets_what_all_gave(size: int) -> None:
    assert taking_turns(size, lambda ranks: ranks.gather(ranks.rank**2)) == [[r**2 for r in range(size)]] * size
    assert (
        taking_turns(size, lambda ranks: totals(ranks, ranks.rank + 1, 2))
        == [[size * (size + 1) // 2, 2 * size]] * size
    )


def test_a_sum_is_added_up_by_rank() -> None:
    parts = np.float32([[1, 2**24], [2**24, 1], [1, 1], [1, 2]])
    sums = taking_turns(4, lambda ranks: ranks.begin_sum([parts[ranks.rank]]).wait()[0])
    assert all((one == ((parts[0] + parts[1]) + parts[2]) + parts[3]).all() for one in sums)
    assert (parts == np.float32([[1, 2**24], [2**24, 1], [1, 1], [1, 2]])).all()


def test_rows_are_traded() -> None:
    def work(ranks: Any) -> list[Any]:
        parts = [np.full((to, 2), 10 * ranks.rank + to) for to in range(3)]
        received: list[Any] = ranks.trade(parts)
        return received

    for rank, received in enumerate(taking_turns(3, work)):
        assert [part.tolist() for part in received] == [[[10 * origin + rank] * 2] * rank for origin in range(3)]


def test_an_error_on_one_rank_ends_all() -> None:
    def work(ranks: Any) -> None:
        ranks.gather(0)
        if ranks.rank == 2:
            raise KeyError("here")
        ranks.gather(1)

    with pytest.raises(KeyError, match="here") as raised:
        taking_turns(4, work)
    assert raised.value.__notes__ == ["on rank 2"]


@pytest.mark.parametrize("early", [0, 1, 3])
def test_a_rank_that_ends_early_is_named(early: int) -> None:
    with pytest.raises(RuntimeError, match=f"waits for rank {early}, which has ended"):
        taking_turns(4, lambda ranks: ranks.rank == early or ranks.gather(0))


def test_settings_have_to_agree() -> None:
    def work(ranks: Any) -> None:
        agree(ranks, "settings", {"batch": 8, "seed": 3 if ranks.rank == 2 else 1})

    with pytest.raises(RanksError, match="settings: seed: rank 2 has 3, rank 0 1"):
        taking_turns(4, work)


def test_one_bit_that_differs_is_named_with_its_rank() -> None:
    def work(ranks: Any) -> None:
        arrays = {"a": np.ones(3, np.float32), "b": np.ones((2, 2), np.float32), "c": np.zeros(1, np.float32)}
        check_equal(ranks, "step 1", arrays)
        if ranks.rank == 1:
            arrays["b"][1, 0] = np.nextafter(np.float32(1), np.float32(2))
            arrays["c"] = -arrays["c"]
        check_equal(ranks, "step 2", arrays)

    with pytest.raises(RanksError, match="step 2: rank 1 does not hold what rank 0 holds: b and 1 more differ in bits"):
        taking_turns(2, work)


def test_a_gradient_that_is_ready_twice_is_refused() -> None:
    def work(ranks: Any) -> None:
        reduction = Reduction(ranks)
        reduction.ready({"a": np.ones(3)})
        reduction.ready({"b": np.ones(3), "a": np.ones(3)})

    with pytest.raises(ValueError, match="Reduction: the gradient of a is ready a second time"):
        taking_turns(2, work)
    with pytest.raises(ValueError, match="Reduction: bucket_bytes: expected at least 1, got 0"):
        Reduction(ALONE, 0)


def test_gradients_of_two_types_are_refused() -> None:
    def work(ranks: Any) -> None:
        Reduction(ranks, 40).ready({"a": np.ones(3), "b": np.ones(9, np.float32)})

    with pytest.raises(ValueError, match="Reduction: expected arrays of one type, got float32 and float64"):
        taking_turns(2, work)


def one_step(micro_batches: int, config: Any, state: State) -> dict[str, Any]:
    """What one process has to be left with by a step from here, and how far honest roundings lead from it."""
    given = converted(state, lambda array: exact(array, worst=False))
    training = replace(TRAINING, micro_batches=micro_batches)
    return by_name(*training_step(OnFloat32(), config, training, given, *batch_of(state.step)))


def refused(micro_batches: int, config: Any, course: list[dict[str, Any]]) -> list[str]:
    """Say what no step of one process could have left, starting from where the one before led.

    Steps are judged one by one: what roundings of the first may do to the third has no bounds that AdamW's division
    by a small v leaves finite.
    """
    said, state = [], start(parameters(config, dtype=np.float32))
    for came in course:
        expected = one_step(micro_batches, config, state)
        assert came.keys() >= expected.keys()
        verdicts = [judge(what, wanted, came[what]) for what, wanted in expected.items()]
        said += [f"step {state.step + 1}: {v.output}: {v.reason}" for v in verdicts if not v.passed]
        of_kind = ({name: came[f"{kind} of {name}"] for name in state.parameters} for kind in ("parameters", "m", "v"))
        state = State(*of_kind, state.step + 1)
    return said


@pytest.mark.slow
@pytest.mark.parametrize(("size", "micro_batches"), [(1, 4), (2, 2), (4, 1)])
def test_ranks_and_micro_batches_are_one_large_batch(size: int, micro_batches: int) -> None:
    """Without an auxiliary loss; with one, they are as many micro-batches of one process: each has its own load."""
    for config, parts in ((WITHOUT_BALANCE, 1), (SMALL, size * micro_batches)):
        first, *_ = taking_turns(size, lambda ranks, c=config: course(ranks, micro_batches, c))
        assert refused(parts, config, first) == []


def test_every_rank_is_left_with_the_same_bits() -> None:
    first, *others = taking_turns(4, trained)
    assert all((first[what] == other[what]).all() for other in others for what in first)


class Noted:
    """Ranks that note when a sum begins, and operations that note when they are called."""

    def __init__(self, ranks: Any, notes: list[str]) -> None:
        self.rank, self.size, self.gather = ranks.rank, ranks.size, ranks.gather
        self._ranks, self._notes = ranks, notes

    def begin_sum(self, arrays: Any) -> Any:
        self._notes.append("sum")
        return self._ranks.begin_sum(arrays)

    def __getattr__(self, operation: str) -> Any:
        self._notes.append(operation)
        return getattr(reference, operation)


@pytest.mark.parametrize("micro_batches", [1, 2])
def test_sums_begin_while_the_last_backward_goes_on(micro_batches: int) -> None:
    """And not before it: of each micro-batch but the last nothing is sent."""

    def work(ranks: Any) -> list[str]:
        notes: list[str] = []
        noted = Noted(ranks, notes)
        step = Step(noted, SMALL, replace(TRAINING, micro_batches=micro_batches), ranks=noted, bucket_bytes=1)
        step(step.start(parameters(dtype=np.float32)), *(np.split(whole, 2)[ranks.rank] for whole in batch_of(0)))
        return notes

    [notes, _] = taking_turns(2, work)
    backward = notes[: notes.index("multi_sum_squares")]
    last = len(backward) - 1 - backward[::-1].index("cross_entropy_backward")
    assert "sum" not in backward[:last]
    sums = [place for place, note in enumerate(backward) if note == "sum"]
    assert len(sums) == len(parameters()) + 1  # one for the loss and the loads
    of_layers = [place for place, note in enumerate(backward) if note == "attention_backward" and place > last]
    assert sums[1] < of_layers[0] < sums[2] < of_layers[1] < sums[12] < sums[-2]


@dataclass(frozen=True, kw_only=True)
class Overflowing(Precision):
    """Finds a gradient that is not finite, on one rank alone: as one may be of the experts that only it holds."""

    here: bool

    def finite(self, ops: Any, gradients: Any, nonfinite: Any = None) -> bool:
        return not self.here


def test_an_update_is_skipped_by_all_or_none() -> None:
    def work(ranks: Any) -> tuple[bool, int]:
        step = Step(reference, SMALL, TRAINING, ranks=ranks, precision=Overflowing(here=ranks.rank == 1))
        standing = step.start(parameters(dtype=np.float32))
        standing, report = step(standing, *(np.split(whole, 4)[ranks.rank] for whole in batch_of(0)))
        return report.skipped, standing.state.step

    assert taking_turns(4, work) == [(True, 0)] * 4


def test_bucket_sizes_change_no_bit() -> None:
    expected = taking_turns(2, trained)[0]
    for bucket_bytes in (1, 3000):
        results = taking_turns(2, functools.partial(trained, bucket_bytes=bucket_bytes))[0]
        assert all((results[what] == array).all() for what, array in expected.items())
