"""Draws mutants by seed and judges them in several processes; what a log knows is not judged again."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from conformance.catalogue.prepared import Store
from conformance.pool import shared

from .library import Library
from .log import Log
from .mutator import Mutant
from .record import Trial, Verdict
from .trial import History, Judge


@dataclass(frozen=True)
class Sample:
    """Which mutants to try: in an order drawn by the seed, and no more than `count`; all where that is None."""

    seed: int = 0
    count: int | None = None

    def drawn(self, mutants: Sequence[Mutant]) -> list[Mutant]:
        """Return the mutants of the sample, in its order."""
        order = list(mutants)
        random.Random(self.seed).shuffle(order)
        return order[: self.count]


def judged(library: Library, mutants: Sequence[Mutant], log: Log, store: Store, processes: int) -> Iterator[Trial]:
    """Yield what comes of mutants: first what the log knows, then the others as they are done, each written to the log.

    Whoever stops to ask for more ends the work.  Raises FaultError where there is no compiler.
    """
    wanted = {mutant.id for mutant in mutants}
    known = {trial.mutant.id: trial for trial in log.trials()}
    codes = {trial.code for trial in known.values() if trial.counts}
    yield from (trial for id, trial in known.items() if id in wanted)
    due = [mutant for mutant in mutants if mutant.id not in known]
    history = History((library.place(trial.mutant), trial) for trial in log.ever())
    begin = partial(_begin, library, store, history, frozenset(codes))
    for trial in shared(_trial, due, processes, begin):
        if trial.counts and trial.code in codes:  # two processes have judged the same code
            trial = replace(trial, verdict=Verdict.REPEATED)
        codes.add(trial.code)
        log.append(trial)
        yield trial


class _Process:
    """What a process judges with."""

    judge: Judge


def _begin(library: Library, store: Store, history: History, codes: frozenset[str]) -> None:
    _Process.judge = Judge(library, store, history, codes)


def _trial(mutant: Mutant) -> Trial:
    return _Process.judge.trial(mutant)
