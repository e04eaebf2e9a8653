"""Options and remarks of Python modules that are judged as libraries are."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from typing import Any, NamedTuple

from conformance.candidates.candidate import Candidate, CandidateError, ask, module_candidates
from conformance.candidates.exports import framework
from conformance.candidates.module.source import can_be_made, find
from conformance.catalogue.cases import REFUSALS
from conformance.commands.selection import Selection, is_counted
from conformance.ids import operation_of
from conformance.operations import OPERATIONS
from conformance.report.record import counted
from conformance.steps.resident import RESIDENT

Named = tuple[str, str]  # what reports call it, "" where nothing was said, and the file or module


def add_module(group: Any, several: bool = False) -> None:
    """Add --module to a group of candidates."""
    shown = "[NAME=]FILE.py" if several else "FILE.py"
    what = f"or a module of Python, or package.module{' (repeatable)' if several else ''} (docs/port.md)"
    action = "append" if several else "store"
    group.add_argument("--module", type=named, action=action, metavar=shown, help=what)


def add_framework(parser: argparse.ArgumentParser) -> None:
    """Add --framework, which stands outside of the group of candidates."""
    whose = "whose arrays its functions take: numpy, torch, jax ... (default: the module's FRAMEWORK, or numpy)"
    parser.add_argument("--framework", default="", metavar="NAME", help=whose)


def named(text: str) -> Named:
    """Read the value of --module for argparse."""
    name, equals, module = text.partition("=")
    return (name, module) if equals else ("", text)


def check(options: argparse.Namespace) -> None:
    """Raise CandidateError on options that do not fit what is judged."""
    if options.framework and not options.module:
        raise CandidateError("--framework is of a module of Python; expected --module beside it")
    unfit = next((f"--{name}" for name in ("declarations", "schedule", "arch") if getattr(options, name)), "")
    if options.module and unfit:
        raise CandidateError(f"{unfit} is of a library; expected --library beside it, got --module")


def found(options: argparse.Namespace) -> list[Candidate]:
    """Return the candidates that --module names.  Raises LibraryError."""
    return module_candidates([(called, find(text, options.framework)) for called, text in options.module])


class Makeable(NamedTuple):
    """What of a selection can be asked of a module; how many cases less that are, and why."""

    selection: Selection
    cases: int
    notes: list[str]


def makeable(selection: Selection, absent: Collection[str]) -> Makeable:
    """Take out what cannot be asked of a function that is given arrays and returns arrays.

    absent: operations that the module has not, of which nothing is said here.
    """
    there = [id for id in selection.cases if operation_of(id) not in absent]
    unmade = {id for id in there if id in REFUSALS and not _can_be_made(id)}
    left = selection.without_cases(unmade)
    notes = [_refusals(len(unmade))] if unmade else []
    if RESIDENT in left.steps and not absent:
        left = left.without((), (RESIDENT,))
        notes.append(f"not run: {RESIDENT}: a module has no memory of its own in which arrays could stay")
    return Makeable(left, sum(map(is_counted, unmade)), notes)


def _can_be_made(id: str) -> bool:
    refusal = REFUSALS[id]
    return can_be_made(OPERATIONS[refusal.operation], refusal.override)


def _refusals(count: int) -> str:
    calls = f"{counted(count, 'call')} to be refused"
    return f"not run: {calls}: a function of Python is given no sizes that its arrays tell, and no outputs"


def remark(candidate: Candidate) -> str:
    """Say what is judged otherwise than of a library."""
    kept = "guard zones are at the arrays that it is given, not at those that it returns; there are no streams"
    return f"a module of Python, on arrays of {ask(candidate, framework)}: {kept}"
