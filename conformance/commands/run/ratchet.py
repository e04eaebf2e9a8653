"""What passed once must pass: a run held to its ratchet, and the ratchet moved on by what passes now."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bindings.shared_object.misnamed import listed
from conformance.catalogue.cases import CASES, REFUSALS, SEQUENCES
from conformance.exit_codes import FAILED, PASSED
from conformance.ids import operation_of
from conformance.judging.probes import probe_ids
from conformance.judging.results import Result, Status
from conformance.operations import OPERATIONS
from conformance.report.record import Run, counted
from conformance.steps import STEPS
from conformance.steps.needs import lacking

from .ratchet_file import parts, read_ratchet, write_ratchet

_NAMED = 8  # entries that a line names; the file names them all


class Ratchet:
    """What passed once, beside what a run says of it."""

    def __init__(self, entries: Iterable[str], run: Run) -> None:
        self.entries, self.run = tuple(entries), run
        self._by_id = {result.id: result for result in run.results}
        self._by_part: dict[str, list[Result]] = {}
        for result in run.results:
            self._by_part.setdefault(result.part, []).append(result)

    def problems(self) -> list[str]:
        """Return a sentence for each entry that no longer holds."""
        return [f"ratchet: {entry} passed once, and {why}" for entry in self.entries if (why := self._lost(entry))]

    def lost(self) -> list[str]:
        """Return the entries that no longer hold."""
        return [entry for entry in self.entries if self._lost(entry)]

    def sentence(self) -> str:
        """Say how many entries hold, of those that the run judged."""
        judged = [entry for entry in self.entries if self._results(entry) or self._lost(entry)]
        elsewhere = f", {len(self.entries) - len(judged)} not judged here" * (len(judged) < len(self.entries))
        return f"ratchet: {len(judged) - len(self.lost())} of {len(judged)} entries hold{elsewhere}"

    def _lost(self, entry: str) -> str:
        """Why an entry does not hold, if it does not; what was not judged is not spoken of."""
        is_step_in_part = entry in STEPS and entry in self._by_part and self.run.absent
        lacks = lacking(entry, self.run.absent) if is_step_in_part else self.run.left_out.get(entry, ())
        if lacks:
            return f"needs {lacks[0]}, which is not exported"
        if parts()[entry] in self.run.absent:
            return "is not exported"
        failed = [result for result in self._results(entry) if not result.is_fine]
        if not failed:
            return ""
        more = f" ({counted(len(failed), 'case')} of {len(self._results(entry))})" if entry != failed[0].id else ""
        return f"is now {failed[0].status}{more}"

    def _results(self, entry: str) -> list[Result]:
        if entry in self._by_id:
            return [self._by_id[entry]]
        return self._by_part.get(entry, [])

    def gained(self) -> list[str]:
        """Return what passes now and does not stand there: operations and steps that were judged whole, else cases."""
        whole = [part for part, results in self._by_part.items() if _passes(results) and self._is_whole(part)]
        held = {*self.entries, *whole}
        cases = [
            id
            for id, result in self._by_id.items()
            if id in parts() and result.status is Status.PASS and parts()[id] not in held
        ]
        return sorted({*whole, *cases} - {*self.entries})

    def _is_whole(self, part: str) -> bool:
        """Whether all of an operation or step was judged; of a step that is so in a run of everything alone."""
        if part in OPERATIONS:
            return _cases_of()[part] <= self._by_id.keys()
        return part in STEPS and self.run.whole


def _cases_of() -> Mapping[str, set[str]]:
    found: dict[str, set[str]] = {operation: set() for operation in OPERATIONS}
    for id in (*CASES, *REFUSALS, *SEQUENCES, *probe_ids()):
        found[operation_of(id)].add(id)
    return found


def _passes(results: Sequence[Result]) -> bool:
    """Whether all pass, but for those that are declared to be beyond it; what is waived does not pass."""
    statuses = {result.status for result in results}
    return Status.PASS in statuses and statuses <= {Status.PASS, Status.TOO_FINE, Status.NOT_SUPPORTED}


def add_ratchet(group: Any) -> None:
    """Add the options."""
    held = "fail if any of what this committed file lists no longer passes, or is no longer exported"
    group.add_argument("--ratchet", type=Path, metavar="FILE", help=held)
    group.add_argument("--update-ratchet", action="store_true", help="add to it what passes now; nothing is taken out")
    loosen = "and take out of it what no longer passes, for good reasons: the file's change shows what"
    group.add_argument("--loosen-ratchet", action="store_true", help=loosen)


def check_ratchet(options: argparse.Namespace) -> None:
    """Raise ValueError for options that do not fit, RatchetError for a file that cannot be read."""
    updates = options.update_ratchet or options.loosen_ratchet
    if updates and not options.ratchet:
        raise ValueError("--update-ratchet and --loosen-ratchet: expected --ratchet FILE beside them, got none")
    if options.ratchet:
        read_ratchet(options.ratchet, new=updates)


def held_to_ratchet(options: argparse.Namespace, finished: Sequence[Run]) -> list[Run]:
    """Return the runs with what their ratchet says of them; move it on where that is asked for.

    A run without a verdict moves nothing.
    """
    if not options.ratchet:
        return list(finished)
    updates = options.update_ratchet or options.loosen_ratchet
    entries = read_ratchet(options.ratchet, new=updates).entries
    ratchets = [Ratchet(entries, run) for run in finished]
    moved = []
    if updates and all(run.code in (PASSED, FAILED) for run in finished):
        moved = [move_on(options.ratchet, ratchets, options.loosen_ratchet)]
    return [
        replace(
            ratchet.run,
            problems=[*ratchet.run.problems, *([] if options.loosen_ratchet else ratchet.problems())],
            notes=[*ratchet.run.notes, ratchet.sentence(), *moved],
        )
        for ratchet in ratchets
    ]


def move_on(path: Path, ratchets: Sequence[Ratchet], loosen: bool = False) -> str:
    """Add to a file what passes in every run, take out what no longer holds if that is asked for, and say so.

    Raises RatchetError for a file that cannot be read.
    """
    file = read_ratchet(path, new=True)
    gained = set[str].intersection(*({*ratchet.gained()} for ratchet in ratchets))
    lost = {entry for ratchet in ratchets for entry in ratchet.lost()} if loosen else set[str]()
    write_ratchet(path, file, (file.entries.keys() | gained) - lost)
    taken = f"; taken out: {', '.join(sorted(lost))}" if lost else ""
    return f"{path}: added {listed(sorted(gained), _NAMED) or 'nothing'}{taken}"
