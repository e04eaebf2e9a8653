"""`design`: what the designed cases cover of each operation's space of inputs."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from conformance.catalogue.design.coverage import WHY_BEYOND, WHY_OPEN, Coverage, coverage, together
from conformance.catalogue.design.judged_levels import judges_of
from conformance.catalogue.design.rows import StaleRowsError, rows_of, write
from conformance.catalogue.design.space import Space, space_of
from conformance.catalogue.prepared import kept_between_runs
from conformance.exit_codes import FAILED, HARNESS, PASSED
from conformance.operations import OPERATIONS, family
from conformance.report.screen import say

from .options import add_command, add_operations

_EXAMPLES = """\
  design                      how many levels and pairs of levels stand in a case, by operation
  design -o softmax -v        the factors of softmax and their levels
  design --write              choose the rows anew, where a declaration or a family's file has changed
  design --write --keep       keep the rows that stand, and choose what new levels and new operations need
"""
_EXIT = "exit code: 0 all that a call can reach is covered; 1 something is not; 2 the tables of rows are out of date"


def add_parser(commands: Any) -> None:
    """Register the command."""
    parser = add_command(commands, "design", "what the designed cases cover, by operation", run, _EXAMPLES, _EXIT)
    add_operations(parser)
    parser.add_argument("-v", "--verbose", action="store_true", help="the factors and levels too")
    parser.add_argument("--write", action="store_true", help="choose the rows of these operations' families anew")
    parser.add_argument("--keep", action="store_true", help="with --write: keep the rows that stand, and add to them")


def run(options: argparse.Namespace) -> int:
    """Print the coverage, after writing the rows if that is asked for."""
    operations = options.operation or list(OPERATIONS)
    try:
        with kept_between_runs() as store:
            if options.write:
                write(dict.fromkeys(map(family, operations)), partial(judges_of, store=store), keep=options.keep)
            spaces = map(space_of, operations)
            found = [coverage(space, rows_of(space.operation), judges_of(space, store)) for space in spaces]
    except StaleRowsError as error:
        say(error, wrong=True)
        return HARNESS
    say("\n".join(_table(found)))
    if options.verbose:
        for operation in operations:
            say("\n".join(_factors(space_of(operation))))
    return FAILED if any(one.missing for one in found) else PASSED


def _table(found: Sequence[Coverage]) -> Iterable[str]:
    yield f"{'operation':34} {'cases':>6} {'goals':>7} {'reached':>8} {'beyond':>7} {'open':>6}"
    for one in (*found, together(found)):
        counts = f"{one.cases:>6} {one.goals:>7} {one.reached:>8} {one.beyond:>7} {one.open:>6}"
        yield f"{one.operation:34} {counts}  {one.share:.1%}"
    yield "goals: every level of every factor, and every pair of them by class"
    yield f"beyond: {WHY_BEYOND}"
    yield f"open: {WHY_OPEN}"


def _factors(space: Space) -> Iterable[str]:
    yield f"\n{space.operation}"
    for factor in space.factors:
        levels = (f"list of {len(level)}" if isinstance(level, tuple) else f"{level}" for level in factor.levels)
        yield f"  {factor.name} ({factor.kind}, {max(factor.classes) + 1} classes): {' '.join(levels)}"
