"""A port's library called where every argument lies on the stack in its place: swapped ones show."""

from __future__ import annotations

from pathlib import Path

from bindings.shared_object.symbols import exported_symbols
from conformance.catalogue.keywords import Keywords
from conformance.operations import OPERATIONS
from conformance.positional.build import NoCallerError, build_caller
from conformance.positional.calls import Caller, NotOpenedError
from conformance.positional.judged import Judged, judge_operation

from .listed import Positional
from .ports import PortError, build_by_position, lacking_by_position

_SECONDS = 20.0  # that a call may take


class NotCalledError(RuntimeError):
    """Nothing can be called by position here; the message says why."""


def judge_by_position(
    name: str, positional: Positional, source: Path, out: Path, library: Path, words: str
) -> list[Judged]:
    """Build a port for 32-bit x86 and judge what it exports; words: by which goldens, as -k takes them.

    library: the port's for this machine, which tells what it exports.  Raises NotCalledError, and PortError where a
    compiler that works does not compile it.
    """
    try:
        program = build_caller()
    except NoCallerError as error:
        raise NotCalledError(str(error)) from None
    if reason := lacking_by_position(positional):
        raise NotCalledError(reason)
    path, exported = build_by_position(name, positional, source, out), exported_symbols(library)
    held = [operation for operation, function in OPERATIONS.items() if function.symbol in exported]
    try:
        with Caller(program, path, _SECONDS) as caller:
            found = [judge_operation(operation, caller, Keywords(words)) for operation in held]
    except NotOpenedError as error:
        raise PortError(str(error)) from None
    return [each for each in found if each.cases or each.is_absent]
