"""The command line.  A command is a module with `add_parser(commands)`; here is the list of them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from conformance.exit_codes import HARNESS
from conformance.program import program

from . import build, diff, explain, false_alarms, faults, golden, inspect, language, listing, probe, readings, report
from .options import EXIT
from .run import command

ADD_PARSER: tuple[Callable[[Any], None], ...] = (
    command.add_parser,
    listing.add_parser,
    explain.add_parser,
    probe.add_parser,
    diff.add_parser,
    report.add_parser,
    inspect.add_parser,
    build.add_parser,
    golden.add_parser,
    false_alarms.add_parser,
    readings.add_parser,
    faults.add_parser,
    language.add_parser,
)

_WHAT = """Judge a library that exports the operations of cuda/include/assayer.h against the reference.

`run` judges it: every operation by itself, then whole training steps.  Limits are derived from the rounding noise of
the reference itself; no tolerance is chosen."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; without one, print the help: nothing was judged."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if not hasattr(options, "run"):
        parser.print_help()
        return HARNESS
    code: int = options.run(options)
    return code


def _parser() -> argparse.ArgumentParser:
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(program(), description=_WHAT, epilog=EXIT, formatter_class=layout)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for add_parser in ADD_PARSER:
        add_parser(commands)
    return parser
