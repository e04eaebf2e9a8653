"""What can be said of a candidate before anything is judged: its symbols, its declarations, strange files."""

from __future__ import annotations

import argparse

from bindings.shared_object.misnamed import left_out, unknown_symbols
from bindings.shared_object.symbols import read_symbols
from conformance.candidates.candidate import Candidate
from conformance.candidates.exports import misnamed
from conformance.candidates.files import strangers
from conformance.commands.selection import Selection
from conformance.steps.needs import called

from .declared import Remarks, compare_with_header
from .modules import remark
from .presence import Presence
from .repro import recall


def examine(options: argparse.Namespace, candidate: Candidate, selection: Selection, presence: Presence) -> Remarks:
    """Return what stands against a candidate, and what is worth saying.

    What the header does not know is a problem where everything is judged, else a remark: with --exported a library may
    have functions of its own.  Raises DeclarationError.
    """
    is_whole = selection.is_whole and not options.inputs
    if options.outputs:
        return Remarks(strangers(options.outputs) if is_whole else [], [])
    if candidate.module:
        notes = [*presence.sentences(), *misnamed(candidate, presence.absent), remark(candidate)]
        return Remarks([], notes)
    unknown = unknown_symbols(candidate.path)
    strict = is_whole and not options.exported
    remarks = Remarks(unknown if strict else [], [*presence.sentences()] + ([] if strict else unknown))
    if presence.absent:
        near = misnamed(candidate, presence.absent)
        remarks.notes.extend(near or ([] if options.exported else left_out(read_symbols(candidate.path))))
    if options.declarations:
        of_declarations = compare_with_header(options.declarations, _judged(options, selection, presence), strict)
        remarks.problems.extend(of_declarations.problems)
        remarks.notes.extend(of_declarations.notes)
    return remarks


def _judged(options: argparse.Namespace, selection: Selection, presence: Presence) -> set[str]:
    """The operations whose declarations count: with --exported those that are there, else all that were chosen."""
    if options.inputs:
        return {recall(options.inputs).operation}
    chosen = presence.there if options.exported else selection
    if selection.is_whole:
        return {*chosen.operations}
    return {*chosen.operations}.union(*map(called, chosen.steps))
