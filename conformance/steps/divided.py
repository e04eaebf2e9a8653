"""One batch divided: cut into micro-batches, shared out to ranks, it has to give the update of the whole at once.

The parts have very different numbers of targets that count, so that a mean of means is not their mean. Without an
auxiliary loss the large batch is what is expected, and a sum in parts is one more order of its sums, which its noise
covers. Each micro-batch has an auxiliary loss of its own, by its own load: with one, as many micro-batches of one
process are expected. The ranks take turns, and sum as they do between processes; where each holds its own experts, the
rows of tokens change hands too.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conformance.catalogue.prepared import Store
from conformance.catalogue.prepared.codec import Codec
from conformance.judging.results import Result, Status
from conformance.judging.verdict import judge
from conformance.limits.namespaces import OnFloat32, OnNumbers, converted
from conformance.limits.noise import exact
from reference import random
from reference.model.config import TINY, Config
from reference.model.parameters import initialise
from reference.step import State, TrainingConfig, start, training_step
from training.ranks import check_equal, taking_turns
from training.step import Step

from . import scenarios
from .recomputed import by_name
from .whole import OPERATION

DIVIDED = "steps/divided"
BATCH, SEQ, CHOSEN = 4, 16, 0  # the seed: such that no routing choice lies within the noise
TRAINING = replace(scenarios.TRAINING, clip_norm=0.1)  # in force for the whole, and for every part of it
Arrays = dict[str, NDArray[Any]]


class Division(NamedTuple):
    """Ranks that share a batch, and the micro-batches of each."""

    ranks: int
    micro_batches: int
    aux_alpha: float = 0.0
    experts: bool = False  # whether each rank holds its own experts

    @property
    def config(self) -> Config:
        """The model."""
        return replace(TINY, ffn=64, vocab=64, aux_alpha=self.aux_alpha)

    @property
    def training(self) -> TrainingConfig:
        """How each rank trains."""
        return replace(TRAINING, micro_batches=self.micro_batches)

    def expected(self, store: Store) -> dict[str, Any]:
        """Return what an update of one process leaves behind, and how far from there honest roundings lead."""
        parts = 1 if self.aux_alpha == 0 else self.ranks * self.micro_batches
        return store.recall(
            f"{DIVIDED} {parts} {self.config}", lambda: _expected(parts, self.config), Codec(), large=True
        )


DIVISIONS = {
    "micro_batches:4": Division(1, 4),
    "ranks:2,micro_batches:2": Division(2, 2),
    "ranks:4": Division(4, 1),
    "ranks:2,micro_batches:2,balanced": Division(2, 2, aux_alpha=0.3),
    "ranks:2,micro_batches:2,experts": Division(2, 2, experts=True),
    "ranks:4,experts": Division(4, 1, experts=True),
}


def batch() -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Tokens and targets; of the first sequences most targets do not count."""
    tokens, targets = (
        random.integers(random.stream("divided", name, CHOSEN), 0, 64, (BATCH, SEQ)).astype(np.int32)
        for name in ("tokens", "targets")
    )
    targets[0, 1:] = targets[1, 5:] = -1
    return tokens, targets


def beginning(config: Config) -> State:
    """Where the step starts, in float32."""
    return start(initialise(config, seed=0, dtype=np.float32, deviation=scenarios.DEVIATION))


def _expected(micro_batches: int, config: Config) -> dict[str, Any]:
    training = replace(TRAINING, micro_batches=micro_batches)
    state = converted(beginning(config), lambda array: exact(array, worst=False))
    return by_name(*training_step(OnFloat32(), config, training, state, *batch()))


def run(library: Any) -> list[Arrays]:
    """Run one step on a library, in its worker, by every division; return what it leaves behind."""
    return [_divided(library, division) for division in DIVISIONS.values()]


def _divided(ops: Any, division: Division) -> Arrays:
    def work(ranks: Any) -> Arrays:
        step = Step(ops, division.config, division.training, ranks=ranks, expert_parallel=division.experts)
        tokens, targets = (np.split(whole, ranks.size)[ranks.rank] for whole in batch())
        standing, report = step(step.start(beginning(division.config).parameters), tokens, targets)
        left = by_name(step.whole(standing).state, report)
        check_equal(ranks, "a step", left)
        return left

    return taking_turns(division.ranks, work)[0]


@functools.cache
def operations() -> tuple[str, ...]:
    """The operations that such a step calls."""
    ops = OnNumbers(np.asarray)
    run(ops)
    return tuple(sorted(ops.used))


def judge_divided(runs: list[Arrays], store: Store) -> Iterator[Result]:
    """Judge every division, by what `run` returned: a result for each."""
    for (text, division), got in zip(DIVISIONS.items(), runs, strict=True):
        verdicts = tuple(judge(what, wanted, got[what]) for what, wanted in division.expected(store).items())
        wrong = next((verdict for verdict in verdicts if not verdict.passed), None)
        reason = f"not the update of the whole: {wrong.output}: {wrong.reason}" if wrong else ""
        yield Result(f"{DIVIDED}/{text}", OPERATION, Status.FAIL if wrong else Status.PASS, reason, verdicts)
