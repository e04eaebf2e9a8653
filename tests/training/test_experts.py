"""Expert parallelism: rows that go to their experts' ranks and come home, and steps that are those of one process."""

from __future__ import annotations

import gc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import reference
from reference import random
from reference.model import moe, recompute
from reference.model.parameters import initialise, layer
from reference.step import TrainingConfig
from tests.reference.model_samples import SMALL, parameters
from tests.training.ranks_run import FOUR_EXPERTS, TRAINING, WITHOUT_BALANCE, batch_of, course
from tests.training.test_ranks import refused
from training.precision import BF16, FP16, Precision
from training.ranks import ALONE, Experts, RanksError, taking_turns
from training.ranks.routes import Route, Routed
from training.step import Step

FOUR_WITHOUT_BALANCE = replace(WITHOUT_BALANCE, experts=4)


@pytest.mark.parametrize(("size", "micro_batches"), [(1, 4), (2, 2), (4, 1)])
def test_the_update_is_that_of_one_process(size: int, micro_batches: int) -> None:
    for config, parts in ((FOUR_WITHOUT_BALANCE, 1), (FOUR_EXPERTS, size * micro_batches)):
        first, *others = taking_turns(size, lambda r, c=config: course(r, micro_batches, c, expert_parallel=True))
        assert refused(parts, config, first) == []
        assert all((first[-1][what] == other[-1][what]).all() for other in others for what in first[-1])


def test_a_rank_holds_its_own_experts_only() -> None:
    whole = parameters(FOUR_EXPERTS, dtype=np.float32)

    def work(ranks: Any) -> Any:
        step = Step(reference, FOUR_EXPERTS, TRAINING, ranks=ranks, expert_parallel=True)
        standing = step.start(whole)
        again = step.part(step.whole(standing))
        assert all((again.state.parameters[n] == a).all() for n, a in standing.state.parameters.items())
        return standing.state

    for rank, state in enumerate(taking_turns(4, work)):
        assert (state.parameters["layers.1.gate"] == whole["layers.1.gate"][rank : rank + 1]).all()
        assert state.m["layers.0.down"].shape[0] == state.v["layers.1.up"].shape[0] == 1
        assert state.parameters["layers.0.router"].shape == whole["layers.0.router"].shape


def test_rows_reach_their_expert_by_rank_and_come_home() -> None:
    def work(ranks: Any) -> tuple[Any, ...]:
        counts = np.array([[2, 0, 1, 1], [1, 0, 0, 0]][ranks.rank])
        rows = np.repeat(np.arange(4), counts)[:, None] * 10 + ranks.rank
        route = Route(ranks, counts)
        there = route.outward(rows)
        assert (route.homeward(there) == rows).all()
        return route.offsets.tolist(), there[:, 0].tolist()

    assert taking_turns(2, work) == [([0, 3, 3], [0, 0, 1]), ([0, 1, 2], [20, 30])]


def test_a_rank_whose_experts_meet_no_token_takes_part() -> None:
    """No operation takes zero rows, so it computes one of zeros, which changes nothing."""

    def work(ranks: Any) -> tuple[Any, ...]:
        route = Route(ranks, np.array([3, 1, 0, 0]))
        there = route.outward(np.ones((4, 2), np.float32))
        assert (route.homeward(there) == 1).all()
        return route.offsets.tolist(), there.sum()

    assert taking_turns(2, work) == [([0, 6, 8], 16.0), ([0, 0, 1], 0.0)]


def test_recomputed_layers_find_their_routes() -> None:
    def work(ranks: Any, setting: str) -> Any:
        again = recompute.read(setting)
        step = Step(reference, FOUR_EXPERTS, TRAINING, ranks=ranks, recompute=again, expert_parallel=True)
        batch = (np.split(whole, 2)[ranks.rank] for whole in batch_of(0))
        return step(step.start(parameters(FOUR_EXPERTS, dtype=np.float32)), *batch)[0].state

    plain, again = (taking_turns(2, lambda r, s=setting: work(r, s)) for setting in ("none", "boundaries:2"))
    for ours, theirs in zip(plain, again, strict=True):
        assert all((ours.parameters[name] == array).all() for name, array in theirs.parameters.items())


def test_a_route_ends_with_its_positions() -> None:
    def work(ranks: Any) -> int:
        routed = Routed(reference, ranks)
        held = Experts(ranks, FOUR_EXPERTS, divided=True).part(parameters(FOUR_EXPERTS))
        x = random.normal(random.stream("x", ranks.rank), (6, FOUR_EXPERTS.hidden))
        _, _, kept = moe.forward(routed, FOUR_EXPERTS, layer(held, 0), x)
        assert len(routed._routes) == 1
        del kept
        gc.collect()
        return len(routed._routes)

    assert taking_turns(2, work) == [0, 0]


def test_experts_that_the_ranks_do_not_divide_are_refused() -> None:
    def work(ranks: Any) -> None:
        Step(reference, SMALL, TrainingConfig(), ranks=ranks, expert_parallel=True)

    with pytest.raises(RanksError, match="experts: expected a multiple of the 2 ranks that are to share them, got 5"):
        taking_turns(2, work)


def test_one_process_is_the_plain_path() -> None:
    experts = Experts(ALONE, SMALL, divided=True)
    held = initialise(SMALL, seed=0)
    assert experts.on(reference) is reference
    assert all(experts.part(held)[name] is experts.whole(held)[name] is array for name, array in held.items())


@pytest.mark.parametrize("precision", [BF16, FP16], ids=["bf16", "fp16"])
def test_rows_travel_in_16_bits_too(precision: Precision) -> None:
    def work(ranks: Any, own_experts: bool) -> list[Any]:
        step = Step(reference, FOUR_EXPERTS, TRAINING, precision=precision, ranks=ranks, expert_parallel=own_experts)
        standing, losses = step.start(parameters(FOUR_EXPERTS, dtype=np.float32)), []
        for number in range(2):
            rows = slice(2 * ranks.rank, 2 * ranks.rank + 2)
            standing, report = step(standing, *(array[rows] for array in batch_of(number)))
            losses.append(report.loss)
        return losses

    own, others = (taking_turns(2, lambda ranks, own=own: work(ranks, own)) for own in (True, False))
    assert own[0] == own[1] == others[0] == others[1]
