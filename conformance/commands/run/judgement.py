"""One candidate judged, for `run`."""

from __future__ import annotations

import argparse
import datetime
import re
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from conformance.candidates.candidate import SCHEDULES, Candidate
from conformance.candidates.exports import absent
from conformance.candidates.files import check_folder, floor
from conformance.candidates.sandbox.restrictions import described
from conformance.catalogue.cases import CASES
from conformance.catalogue.goldens import catalogue_floor
from conformance.catalogue.prepared import Store
from conformance.commands.options import chosen
from conformance.commands.selection import DEAR, DEAR_WATCHED, DEARER, Selection, is_counted, select_goldens
from conformance.ids import is_without_memory, operation_of
from conformance.judging.evidence_selection import without_surplus
from conformance.judging.files import NOTE, judge_files
from conformance.judging.results import Result
from conformance.program import watched_by
from conformance.report.progress import Follower
from conformance.report.record import Run, counted
from conformance.steps import ENVELOPES, corpus

from . import last_failed
from .examine import examine
from .kernels import unasked
from .modules import makeable
from .presence import divide
from .repeat import judged_inputs, keep_failures, setting_of
from .repro import check_new
from .runner import judge_all
from .waivers import Waiver, waive


class Judgement:
    """How one candidate is judged.  Raises what opening it raises, and ValueError on options that do not fit it."""

    def __init__(
        self,
        console: Console,
        options: argparse.Namespace,
        candidate: Candidate,
        waivers: Sequence[Waiver],
        store: Store,
        several: bool = False,
    ) -> None:
        self.console, self.options, self.candidate, self.waivers = console, options, candidate, waivers
        self.name, self.several = candidate.name, several
        self.repro = self._repro(several)
        self.setting = setting_of(options, candidate, store)
        if options.outputs:
            self._check_files()
        # a call in a file is made whatever it is of
        self.absent = absent(candidate) if not options.outputs and not options.inputs else ()
        asked = self._selected()
        self.selection, self.postponed = self._within_reach(asked)
        # of those that the manifest's floor counts
        self.unasked = sum(is_counted(id) for id in {*asked.cases} - {*self.selection.cases})
        self.presence = divide(self.selection, self.absent)
        self.remarks = examine(options, candidate, self.selection, self.presence)

    def _repro(self, several: bool) -> Path | None:
        """Where failing calls are kept: of several candidates each in a folder of its own."""
        folder: Path | None = self.options.repro
        if folder and several:
            folder /= slug(self.name)
        if folder and not self.options.outputs:
            check_new(folder)
        return folder

    def _check_files(self) -> None:
        """Raise ValueError on options that are of a library."""
        named = ("declarations", "exported", "seed", "inputs", "repro", "schedule", "arch", "shard")
        unfit = next((f"--{name}" for name in named if getattr(self.options, name)), "")
        if unfit:
            raise ValueError(f"{unfit} is of a library; files are held to the goldens, which have one seed")
        check_folder(self.options.outputs)

    @property
    def _is_whole(self) -> bool:
        return self.selection.is_whole and not self.options.inputs

    def _selected(self) -> Selection:
        """What to judge; where nothing failed the last time, all that the keywords leave."""
        cases = self.options.case
        if self.options.last_failed:
            cases = last_failed.recall(self.candidate.key)
            if not cases:
                self.console.print("nothing failed the last time: judging everything")
        if self.options.outputs:
            return select_goldens(self.options.k, cases, self.options.operation)
        asked = argparse.Namespace(**vars(self.options) | {"case": cases})
        return chosen(asked, self.absent)

    def _within_reach(self, selection: Selection) -> tuple[Selection, list[str]]:
        """What of a selection is judged on this candidate, and why the rest is not.

        On an emulated device calls at full size take minutes, some longer than a call is given, and designed cases of
        products a quarter of an hour together, and a refusal for one of 131,075 experts a minute and a half: there they
        are judged where they were asked for by that name.  The other designed ones, which are many, and refusals for
        one of many entries are judged in one order of threads.
        """
        selection, memory = self._with_memory(selection)
        if self.candidate.module:
            made = makeable(selection, self.absent)
            return made.selection, [*memory, *made.notes]
        made = unasked(selection, self.candidate)
        selection, notes = made.selection, [*memory, *made.notes]
        if not self.candidate.facts.emulated:
            return selection, notes
        first = DEAR_WATCHED if watched_by() else DEAR
        for dear in first if self.candidate.schedule in ("", SCHEDULES[0]) else DEARER:
            rest = selection.without_dear(dear)
            if few := sum(map(len, (selection.cases, selection.steps))) - sum(map(len, (rest.cases, rest.steps))):
                they = f"{counted(few, dear.noun)}{dear.where}"
                notes.append(f"not run: {they}, slow on an emulated device; {dear.asked_by} judges them")
            selection = rest
        return selection, notes

    def _with_memory(self, selection: Selection) -> tuple[Selection, list[str]]:
        """Take out calls without memory where nothing can refuse it: of a real device, and of Python."""
        facts, without = self.candidate.facts, {id for id in selection.cases if is_without_memory(id)}
        if not without or not (self.candidate.module or (facts.is_device_build and not facts.emulated)):
            return selection, []
        there = sum(operation_of(id) not in self.absent for id in without)
        note = f"not run: {counted(there, 'call')} without memory: of a device's, and of Python's, none is refused"
        return selection.without_cases(without), [note] * bool(there)

    @property
    def _option(self) -> str:
        """The option by which the candidate is handed to the judge."""
        if self.options.outputs:
            return "--outputs"
        compiled = self.candidate.compiled
        return "--module" if self.candidate.module else compiled.project.option if compiled else "--library"

    def run(self, follower: Follower) -> Run:
        """Judge; the follower says how it goes."""
        started = time.monotonic()
        results, stopped = self._judged(follower)
        return self.record(results, stopped, time.monotonic() - started)

    def record(self, results: Sequence[Result], stopped: bool, seconds: float) -> Run:
        """Return the run that these results are; stopped: whether some were not waited for."""
        whole = self._is_whole and not stopped
        judged, stale = waive(keep_failures(self.repro, self.setting, results), self.waivers, today(), whole)
        fewest = catalogue_floor() if not self.options.outputs else floor()
        return Run(
            candidate=self.name,
            results=judged,
            library=handed(self.candidate),
            option=self._option,
            options=self.candidate.options,
            preload="" if self.candidate.compiled else watched_by(),
            device=self.candidate.facts.described,
            isolation="" if self.options.outputs else described(self.candidate.kept_from),
            contract=self.options.contract,
            seed=self.options.seed,
            seconds=seconds,
            problems=[*stale, *self.remarks.problems],
            whole=whole,
            floor=fewest - self.presence.cases - self.unasked + sum(map(_is_beside, judged)) if whole else 1,
            text=corpus()[1] if any(result.is_of_step for result in judged) else "",
            date=today().isoformat(),
            note=NOTE if self.options.outputs else "",
            notes=[*self.remarks.notes, *self.postponed],
            absent=self.presence.absent,
            left_out=self.presence.left_out,
            exported=self.options.exported,
        )

    def _judged(self, follower: Follower) -> tuple[list[Result], bool]:
        """The results in the catalogue's order, and whether the first failure has ended the run."""
        options, setting, selection = self.options, self.setting, self.presence.there
        if options.inputs:
            return [judged_inputs(options.inputs, setting)], False
        order = {id: place for place, id in enumerate(CASES if options.outputs else selection.cases)}
        results: list[Result] = []
        stopped = False
        if options.outputs:
            batches = judge_files(selection.cases, options.outputs, setting.evidence, setting.declared, setting.store)
        else:
            batches = judge_all(selection.cases, selection.steps, setting, options.n) if selection else iter(())
        for result in follower.follow(batches, selection.expected):
            if selection.wants(result.id) and result.operation not in self.presence.absent:
                results.append(result)
                stopped = (
                    options.exitfirst and not result.is_fine and not any(w.covers(result.id) for w in self.waivers)
                )
                if stopped:
                    break
        last_failed.remember(self.candidate.key, results)
        kept = without_surplus(results)
        return sorted(kept, key=lambda r: (order.get(r.id, len(order)), r.part in ENVELOPES, r.id)), stopped


def handed(candidate: Candidate) -> str:
    """Return by what a candidate is handed to the judge again."""
    module, compiled = candidate.module, candidate.compiled
    if compiled:
        return compiled.project.words[0]
    return f"{module.name or _shown(module.path)}{module.of_step}" if module else _shown(candidate.path)


def slug(name: str) -> str:
    """Return a name as a part of a file's name."""
    return re.sub(r"[^\w.]+", "-", name).strip("-")


def today() -> datetime.date:
    return datetime.datetime.now(datetime.UTC).date()


def _is_beside(result: Result) -> bool:
    """Whether a result is none of those that the catalogue's floor counts."""
    return result.is_of_step or not is_counted(result.id)


def _shown(path: Path) -> str:
    """The path from here, if it lies below, so that it can be pasted."""
    below = Path.cwd() in path.resolve().parents
    return str(path.resolve().relative_to(Path.cwd()) if below else path.resolve())
