"""Draws mutants by seed and judges them in several processes; what a log knows is not judged again."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from conformance.pool import shared

from .log import Log
from .mutator import Mutant
from .record import Trial, Verdict
from .together import Together
from .trial import History


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


class Tries(Protocol):
    """Judges mutants, one after the other."""

    def trial(self, mutant: Mutant) -> Trial: ...


class Subject(Protocol):
    """What is mutated: its files lie in a folder, by its path from the root of the repository."""

    @property
    def name(self) -> str: ...
    @property
    def folder(self) -> str: ...
    def mutants(self) -> list[Mutant]: ...
    def digest(self) -> str: ...
    def path(self, mutant: Mutant) -> str: ...
    def place(self, mutant: Mutant) -> str: ...


Make = Callable[..., Tries]  # of what killed before, of the codes that were judged, and of mutants built together
Weave = Callable[[Sequence[Mutant]], AbstractContextManager[Together]]
_OPEN = (Verdict.UNJUDGED, Verdict.PASSED)  # verdicts of what is tried again
BATCH = 1000  # mutants of one build: the more, the less each costs, and the longer it takes until the first is judged


def judged(
    subject: Subject,
    make: Make,
    mutants: Sequence[Mutant],
    log: Log,
    processes: int,
    is_brief: bool = False,
    weave: Weave | None = None,
    alone: bool = True,
    again: Callable[[Trial], bool] = lambda trial: False,
) -> Iterator[Trial]:
    """Yield what comes of mutants: first what the log knows, then the others as they are done, each written to the log.

    What awaits a second look is tried again, before what was never tried, unless is_brief, and always what this machine
    could not judge.  again: which of the others are tried again, too.
    make: what judges, called in every process.  weave: builds many mutants together.  alone: whether those are judged,
    too, that cannot be built so.  Whoever stops to ask for more ends the work.  Raises FaultError where there is no
    compiler.
    """
    wanted = {mutant.id for mutant in mutants}
    open_ones = (Verdict.UNJUDGED,) if is_brief else _OPEN
    known = {trial.mutant.id: trial for trial in log.trials()}
    known = {id: trial for id, trial in known.items() if trial.verdict not in open_ones and not again(trial)}
    codes = {trial.code: trial.verdict for trial in known.values() if trial.counts and trial.code}
    yield from (trial for id, trial in known.items() if id in wanted)
    seen = {trial.mutant.id for trial in log.trials()}
    due = [mutant for mutant in mutants if mutant.id not in known]
    tried, new = [mutant for mutant in due if mutant.id in seen], [mutant for mutant in due if mutant.id not in seen]
    for some in (*_batches(tried, bool(weave)), *_batches(new, bool(weave))):
        with weave(some) if weave else nullcontext() as together:
            history = History((subject.place(trial.mutant), trial) for trial in log.ever())
            begin = partial(_begin, make, history, dict(codes), together)
            asked = some if alone or together is None else [mutant for mutant in some if mutant in together]
            for trial in shared(_trial, asked, processes, begin):
                if trial.counts and trial.code in codes:  # two processes have judged the same code
                    trial = replace(trial, verdict=Verdict.REPEATED)
                if trial.code:
                    codes.setdefault(trial.code, trial.verdict)
                log.append(trial)
                yield trial


def _batches(mutants: Sequence[Mutant], are_woven: bool) -> Iterator[Sequence[Mutant]]:
    """Mutants, as many at a time as are built together."""
    batch = BATCH if are_woven else max(len(mutants), 1)
    return (mutants[at : at + batch] for at in range(0, len(mutants), batch))


def still_open(
    mutants: Sequence[Mutant],
    log: Log,
    reached: Collection[str],
    again: Callable[[Trial], bool] = lambda trial: False,
) -> Iterator[Trial]:
    """Yield what an earlier run left to be tried again, of mutants that this one, ended early, has not reached.

    reached: their ids.  again: as in `judged`.  Without these a score would be of those alone that have been judged to
    the end.
    """
    wanted = {mutant.id for mutant in mutants} - {*reached}
    last = {trial.mutant.id: trial for trial in log.trials()}
    yield from (trial for id, trial in last.items() if id in wanted and (trial.verdict in _OPEN or again(trial)))


class _Process:
    """What a process judges with."""

    judge: Tries


def _begin(make: Make, history: History, codes: Mapping[str, Verdict], together: Together | None) -> None:
    _Process.judge = make(history, codes, together) if together else make(history, codes)


def _trial(mutant: Mutant) -> Trial:
    return _Process.judge.trial(mutant)
