"""Judges a mutant of the C library or of the kernels, by the cases of what it can affect, until one fails."""

from __future__ import annotations

import itertools
import math
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bindings import LibraryError
from conformance.candidates.worker.worker import Worker
from conformance.catalogue.cases import CallSequence, Case, Refusal
from conformance.catalogue.prepared import Store
from conformance.judging.bench import Bench
from conformance.judging.results import Result, Status
from conformance.proof.faults import RefusedError
from conformance.proof.faults.recipes import Kernels
from conformance.proof.faults.trial import cases_of_operations, judge_case
from conformance.steps import STEP_CASES, judge_step

from . import second_look
from .equivalents import Equivalents
from .library import Build, Library
from .mutator import Mutant
from .record import Trial, Verdict

AnyCase = Case | Refusal | CallSequence
_LIMIT_S, _EMULATED_LIMIT_S = 5.0, 10.0  # of a call: an honest one takes a tenth of a second, on the emulator a second
_OF_PROVED = 200  # cases that are asked of a mutant that a proof calls equivalent: the likeliest to tell otherwise
_STEP_LIMIT_S = 120.0
_NAME = "libassayer_mutant.so"
_MEMORY_KB = 8 << 20  # a mutant that asks for memory without end is to be refused it
_LIMITED = ("sh", "-c", f'ulimit -d {_MEMORY_KB}; exec "$@"', "sh")


class History:
    """Which cases killed mutants, and where: such a case is likely to kill the next one there."""

    def __init__(self, trials: Iterable[tuple[str, Trial]] = ()) -> None:
        self._kills: Counter[tuple[str, str]] = Counter()
        for place, trial in trials:
            self.note(place, trial)

    def note(self, place: str, trial: Trial) -> None:
        """Remember what killed a mutant, in a place: a file and what of it."""
        if trial.verdict is Verdict.KILLED:
            self._kills.update([(place, trial.by), ("", trial.by)])

    def ordered(self, place: str, cases: Iterable[AnyCase]) -> list[AnyCase]:
        """Return cases, those first that killed most in the place, then those that killed most, then small ones."""
        kills = self._kills
        return sorted(cases, key=lambda case: (-kills[place, case.id], -kills["", case.id], _elements(case)))


def _elements(case: AnyCase) -> int:
    """How many elements there are of a case's sizes; a sequence of calls takes longer than any."""
    if isinstance(case, CallSequence):
        return sys.maxsize
    sizes = (case.base if isinstance(case, Refusal) else case).sizes.values()
    return math.prod(size for size in sizes if isinstance(size, int) and size > 1)


class Judge:
    """Judges mutants of one library, one after the other.  Used in one process.

    proofs: of mutants that are equivalent.
    """

    def __init__(
        self,
        library: Library,
        store: Store,
        history: History,
        codes: Iterable[str] = (),
        proofs: Equivalents | None = None,
    ) -> None:
        self._library, self._store, self._history = library, store, history
        self._codes = set(codes)  # of mutants that were judged
        self._proofs = proofs or Equivalents(())
        self._is_emulated = isinstance(library.recipe, Kernels)

    def trial(self, mutant: Mutant) -> Trial:
        """Build a mutant and judge it.  Raises FaultError where there is no compiler."""
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="assayer-mutant-") as folder:
            trial = self._trial(mutant, Path(folder))
        self._history.note(self._place(mutant), trial)
        return replace(trial, seconds=round(time.monotonic() - started, 2))

    def _place(self, mutant: Mutant) -> str:
        return self._library.place(mutant)

    def _trial(self, mutant: Mutant, folder: Path) -> Trial:
        codes, asked = "", []
        try:
            for build in self._library.builds(mutant, folder):
                if not build.code:
                    continue
                codes += build.code
                if codes in self._codes:
                    return Trial(mutant, Verdict.REPEATED, code=codes)
                self._codes.add(codes)
                cases, steps = self._cases(mutant, build), sorted(build.operations & STEP_CASES.keys())
                failed = self._failure(mutant, build, folder / str(len(codes)), cases, steps)
                if failed:
                    return Trial(mutant, Verdict.KILLED, failed.id, failed.reason, codes)
                asked += [f"{len(cases)} cases", *steps] if cases else steps
        except RefusedError as error:
            return Trial(mutant, Verdict.REFUSED, said=_last_line(str(error)))
        verdict = Verdict.SURVIVED if codes else Verdict.SAME
        return Trial(mutant, verdict, said=", ".join(asked), code=codes)

    def _cases(self, mutant: Mutant, build: Build) -> list[AnyCase]:
        cases = cases_of_operations(build.operations, on_a_device=self._is_emulated)
        return self._history.ordered(self._place(mutant), cases)

    def _failure(
        self, mutant: Mutant, build: Build, folder: Path, cases: Sequence[AnyCase], steps: Sequence[str]
    ) -> Result | None:
        """What does not pass: of cases and steps, and of the C library where they all do, of a second look."""
        path = self._library.link(build, folder / _NAME)
        if self._proofs.of(self._library.path(mutant), self._place(mutant), mutant):
            return self._first_failure(path, cases[:_OF_PROVED], ())
        failed = self._first_failure(path, cases, steps)
        if failed or self._is_emulated:
            return failed
        watched = path
        if self._library.can_guard(build):
            watched = self._library.link(build, folder / "guarded" / _NAME, guarded=True)
        if failed := self._first_failure(watched, cases, (), second_look.THREADS):
            return failed
        test = second_look.failed_test(path)
        return Result(test, "", Status.FAIL, test) if test else None

    def _first_failure(
        self, path: Path, cases: Sequence[AnyCase], steps: Iterable[str], threads: int = 1
    ) -> Result | None:
        """Judge cases and steps until one does not pass, and return that one."""
        limit_s = _EMULATED_LIMIT_S if self._is_emulated else _LIMIT_S
        try:
            with Worker(path, threads, limit_s, prefix=_LIMITED, explains=False) as worker:
                bench = Bench(worker, store=self._store, explains=False)
                results = itertools.chain((judge_case(case, bench) for case in cases), _steps(worker, bench, steps))
                return next((result for result in results if not result.is_fine), None)
        except LibraryError as error:
            return Result("opening", "", Status.CRASHED, _last_line(str(error)))


def _steps(worker: Worker, bench: Bench, steps: Iterable[str]) -> Iterator[Result]:
    """The results of whole steps, which take longer than a call."""
    for step in steps:
        worker.limit_s = _STEP_LIMIT_S
        yield from judge_step(step, bench)


def _last_line(text: str) -> str:
    return text.strip().splitlines()[-1][:200] if text.strip() else ""
