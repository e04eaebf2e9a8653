"""Modules of Python in `run`: which they are, what cannot be asked of them, and what is to be said of that."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from typing import NamedTuple

from conformance.candidates.candidate import Candidate, CandidateError, ask, module_candidates
from conformance.candidates.exports import framework
from conformance.candidates.module.source import can_be_made, find
from conformance.catalogue.cases import REFUSALS, SEQUENCES, Refusal
from conformance.commands.candidates import check_framework
from conformance.commands.selection import Selection
from conformance.ids import operation_of
from conformance.operations import OPERATIONS
from conformance.report.record import counted
from conformance.steps.resident import RESIDENT


def check(options: argparse.Namespace) -> None:
    """Raise CandidateError on options that do not fit what is judged."""
    check_framework(options)
    unfit = next((f"--{name}" for name in ("declarations", "schedule", "arch") if getattr(options, name)), "")
    if options.module and unfit:
        raise CandidateError(f"{unfit} is of a library; expected --library beside it, got --module")


def found(options: argparse.Namespace) -> list[Candidate]:
    """Return the candidates that --module names.  Raises LibraryError."""
    return module_candidates([(called, find(text, options.framework)) for called, text in options.module])


class Makeable(NamedTuple):
    """What of a selection can be asked of a candidate, and why the rest cannot."""

    selection: Selection
    notes: list[str]


def makeable(selection: Selection, absent: Collection[str]) -> Makeable:
    """Take out what cannot be asked of a function that is given arrays and returns arrays.

    absent: operations that the module has not, of which nothing is said here.
    """
    there = [id for id in selection.cases if operation_of(id) not in absent]
    unmade = {id for id in there if (refused := _refused_by(id)) and not any(map(_can_be_made, refused))}
    left = selection.without_cases(unmade)
    notes = [_refusals(len(unmade))] if unmade else []
    if RESIDENT in left.steps and not absent:
        left = left.without((), (RESIDENT,))
        notes.append(f"not run: {RESIDENT}: a module has no memory of its own in which arrays could stay")
    return Makeable(left, notes)


def _refused_by(id: str) -> list[Refusal]:
    """The calls of a case or sequence that are to be refused."""
    if id in SEQUENCES:
        return [call.refusal for call in SEQUENCES[id].calls if call.refusal]
    return [REFUSALS[id]] if id in REFUSALS else []


def _can_be_made(refusal: Refusal) -> bool:
    return can_be_made(OPERATIONS[refusal.operation], refusal.override)


def _refusals(count: int) -> str:
    calls = f"{counted(count, 'call')} to be refused"
    return f"not run: {calls}: a function of Python is given no sizes that its arrays tell, and no outputs"


def remark(candidate: Candidate) -> str:
    """Say what is judged otherwise than of a library."""
    kept = "guard zones are at the arrays that it is given, not at those that it returns; there are no streams"
    return f"a module of Python, on arrays of {ask(candidate, framework)}: {kept}"
