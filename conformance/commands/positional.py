"""`positional`: call a candidate where every argument lies on the stack in its place: swapped ones show."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bindings.shared_object.misnamed import listed
from conformance.candidates.sandbox.restrictions import TRUST_OPTION, is_trusted
from conformance.catalogue.goldens import GoldenError
from conformance.exit_codes import FAILED, HARNESS, PASSED
from conformance.operations import OPERATIONS
from conformance.positional.build import NoCallerError, build_caller
from conformance.positional.calls import Caller, NotOpenedError
from conformance.positional.judged import Judged, judge_operation
from conformance.positional.stack import TooLargeError
from conformance.report.record import counted

from .options import add_command, add_operations

_EXAMPLES = """\
  gcc -m32 -O2 -shared -fPIC -o lib32.so mine.c -lm     your sources, for 32-bit x86
  positional --trust --library lib32.so                 every operation that it exports
  positional --trust --library lib32.so -o rmsnorm
"""
_EXIT = "exit code: 0 all that it exports is right; 1 something is not; 2 nothing was judged"
_NAMED = 8  # operations that a line names


def add_parser(commands: Any) -> None:
    """Register the command."""
    what = "call a 32-bit build, where swapped arguments show"
    parser = add_command(commands, "positional", what, run, _EXAMPLES, _EXIT)
    parser.add_argument("--library", type=Path, required=True, metavar="PATH", help="the candidate, for 32-bit x86")
    add_operations(parser)
    seconds = "seconds a call may take (default: %(default)g)"
    parser.add_argument("--limit", type=float, default=20.0, metavar="S", help=seconds)
    trust = "needed: what is called so runs with your rights, as no restriction holds for a 32-bit process"
    parser.add_argument(TRUST_OPTION, action="store_true", help=trust)


def run(options: argparse.Namespace) -> int:
    """Call, judge, print; return the exit code."""
    if not is_trusted():
        print(f"{options.library}: runs with your rights when it is called so: say {TRUST_OPTION} where you trust it")
        return HARNESS
    if not options.library.is_file():
        print(f"{options.library}: expected a library for 32-bit x86, got no such file")
        return HARNESS
    found: list[Judged] = []
    try:
        with Caller(build_caller(), options.library, options.limit) as caller:
            for operation in options.operation or OPERATIONS:
                found.append(judge_operation(operation, caller))
                if found[-1].sentence:
                    print(found[-1].sentence, flush=True)
    except (NoCallerError, NotOpenedError, GoldenError, TooLargeError) as error:
        print(error)
        return HARNESS
    print(*_closing(options.library, found), sep="\n")
    judged = [each for each in found if each.cases]
    wrong = any(each.first for each in judged) or bool(options.operation and len(judged) < len(found))
    return HARNESS if not judged else FAILED if wrong else PASSED


def _closing(library: Path, found: list[Judged]) -> Iterator[str]:
    judged = [each for each in found if each.cases]
    right = [each for each in judged if each.is_right]
    swapped = [each for each in judged if each.swaps]
    by_address = [each for each in judged if each.by_address]
    if absent := [each.operation for each in found if each.is_absent]:
        yield f"not exported: {counted(len(absent), 'operation')} ({listed(absent, _NAMED)})"
    calls = sum(each.cases for each in judged)
    yield (
        f"{library.name}: {len(right)} of {counted(len(judged), 'operation')} right in {counted(calls, 'call')} by "
        f"position; {len(swapped)} with arguments exchanged" + (f", {len(by_address)} by address" if by_address else "")
    )
