"""`run --step`: a whole training step that is one function of Python, in place of a library."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.console import Console

from conformance.candidates.candidate import Candidate, CandidateError, module_candidates
from conformance.candidates.module.source import find_step
from conformance.candidates.sandbox.restrictions import described
from conformance.catalogue.prepared import Store
from conformance.commands.candidates import check_framework
from conformance.commands.selection import Selection
from conformance.judging.evidence_selection import EvidenceSelector
from conformance.judging.results import Result, Status
from conformance.limits.envelope import RUN
from conformance.report.progress import Follower
from conformance.report.record import Run
from conformance.steps.function import ID, judge_run, judge_update, lacking, not_given
from conformance.steps.runs import part_of
from conformance.steps.whole import OPERATION

from . import last_failed
from .judgement import handed, today
from .repeat import setting_of
from .waivers import Waiver, waive

NOTE = "a whole step in one function: single operations, memory and refused calls were not judged"
_RUN = part_of(RUN)
_LONGER = 10.0  # times what a call may take: a step is hundreds of them, and its first one may compile them all
_TOO_FINE = "the limits of a whole step are those of the header's precision alone"


def step_candidates(options: argparse.Namespace) -> list[Candidate]:
    """Return the candidates that --step names.  Raises LibraryError, and CandidateError on options that do not fit."""
    check_framework(options)
    named = ("declarations", "exported", "inputs", "repro", "schedule", "arch", "operation", "shard")
    if unfit := next((name for name in named if getattr(options, name)), ""):
        raise CandidateError(f"--{unfit} is of a library; expected --library beside it, got --step")
    return module_candidates([(called, find_step(text, options.framework)) for called, text in options.step])


class StepJudgement:
    """How one function is judged: one update tensor by tensor, then several in the envelope."""

    def __init__(
        self,
        console: Console,
        options: argparse.Namespace,
        candidate: Candidate,
        waivers: Sequence[Waiver],
        store: Store,
        several: bool = False,
    ) -> None:
        self.options, self.candidate, self.waivers, self.store = options, candidate, waivers, store
        self.name, self.several = candidate.name, several
        setting = setting_of(options, candidate, store)
        self.setting = replace(setting, limit_s=_LONGER * setting.limit_s)
        self.notes: list[str] = []
        self.selection = self._selected(console)

    def _selected(self, console: Console) -> Selection:
        ids = self.options.case
        if self.options.last_failed:
            ids = last_failed.recall(self.candidate.key)
            if not ids:
                console.print("nothing failed the last time: judging everything")
        keywords = self.options.k
        of_update = not ids or ID in ids
        of_run = not ids or any(f"{id}/".startswith(f"{_RUN}/") for id in ids)
        cases = (ID,) * (of_update and keywords.matches(ID))
        steps = (_RUN,) * (of_run and keywords.could_match_within(_RUN))
        return Selection(cases, steps, keywords, tuple(ids))

    def run(self, follower: Follower) -> Run:
        """Judge; the follower says how it goes."""
        started = time.monotonic()
        results, stopped = self._judged(follower)
        last_failed.remember(self.candidate.key, results)
        whole = self.selection.is_whole and not stopped
        judged, stale = waive(results, self.waivers, today(), whole)
        return Run(
            candidate=self.name,
            results=judged,
            library=handed(self.candidate),
            option="--step",
            options=self.candidate.options,
            seed=self.options.seed,
            isolation=described(self.candidate.kept_from),
            contract=self.options.contract,
            seconds=time.monotonic() - started,
            problems=stale,
            whole=whole,
            date=today().isoformat(),
            note=NOTE,
            notes=self.notes,
        )

    def _judged(self, follower: Follower) -> tuple[list[Result], bool]:
        """The results, and whether the first failure has ended the run."""
        found: list[Result] = []
        expected = len(self.selection.cases) + self.options.run_length * len(self.selection.steps)
        for result in follower.follow(self._results(), expected):
            if self.selection.wants(result.id):
                found.append(result)
            if self.options.exitfirst and not result.is_fine and not any(w.covers(result.id) for w in self.waivers):
                return found, True
        return found, False

    def _results(self) -> Iterator[list[Result]]:
        if not self.setting.declared.is_header:
            for id in (*self.selection.cases, *self.selection.steps):
                yield [Result(id, OPERATION, Status.TOO_FINE, _TOO_FINE)]
            return
        with self.setting.worker() as worker:
            selector = EvidenceSelector() if self.setting.evidence else None
            update = judge_update(worker.call, self.store, selector, self.setting.seed)
            if self.selection.cases:
                self.notes += filter(None, [not_given(update)])
                yield [update]
            if not self.selection.steps or (self.selection.cases and not update.verdicts):  # which leads nowhere
                return
            if update.verdicts and (missed := lacking(update)):
                self.notes.append(f"not run: {_RUN}: it goes on from {', '.join(missed)}, not given by the step")
                return
            for result in judge_run(worker.call, replace(RUN, steps=self.options.run_length), self.store):
                yield [result]
