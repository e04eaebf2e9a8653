"""`launches`: which kernels each call launches, held to a table, by an emulated device that runs none of them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rich.console import Console

from conformance.builds import BuildError, build
from conformance.catalogue.keywords import Keywords
from conformance.exit_codes import FAILED, HARNESS, PASSED
from conformance.launches import (
    REFUSED,
    TABLE,
    PlansError,
    TableError,
    calls,
    chosen,
    differences,
    plans,
    read,
    written,
)

from .options import add_command, cores, keywords, positive

_EXAMPLES = """\
  launches                               of this project's kernels, against cuda/launches.tsv
  launches -k 'gemm and bf16'            of some calls
  launches --library mine_emulated.so    of another build of them
  launches --accept                      the table anew, from all calls of the catalogue
"""
_EXIT = "exit code: 0 every call launches what the table says; 1 one does not; 2 nothing was asked"


def add_parser(commands: Any) -> None:
    """Register the command."""
    what = "hold what each call launches on an emulated device, kernels and grids, to a table"
    parser = add_command(commands, "launches", what, run, _EXAMPLES, _EXIT)
    library = "kernels that are built for the emulated device (default: this project's, built now)"
    parser.add_argument("--library", type=Path, metavar="FILE", help=library)
    parser.add_argument("-k", type=keywords, default=Keywords(), metavar="WORDS", help="only calls that match")
    parser.add_argument("--accept", action="store_true", help="write the table from what is launched now")
    parser.add_argument("--table", type=Path, default=TABLE, metavar="FILE", help="the table (default: %(default)s)")
    parser.add_argument("-n", type=positive, default=cores(), metavar="N", help="processes (default: %(default)s)")


def run(options: argparse.Namespace) -> int:
    """Ask, compare or write, print; return the exit code."""
    console = Console(highlight=False, soft_wrap=True, markup=False)
    if options.accept and options.k.words:
        console.print("--accept: expected no -k: the table is of all calls")
        return HARNESS
    try:
        library = options.library or build("emulated")
        return _accept(console, library, options) if options.accept else _compare(console, library, options)
    except (BuildError, PlansError, TableError) as error:
        console.print(str(error))
        return HARNESS


def _accept(console: Console, library: Path, options: argparse.Namespace) -> int:
    all_calls = calls()
    found = plans(library, [*all_calls], options.n)
    every = [plan for row in found.values() for plan in row.values()]
    if refused := next((plan[-1] for plan in every if plan and plan[-1].startswith(REFUSED)), None):
        raise PlansError(f"{library}: expected that every call is made, got {refused}")
    kept = chosen(all_calls, found)
    options.table.write_text(written({id: found[id] for id in kept}), encoding="utf-8")
    console.print(f"{options.table}: {len(kept)} of {len(all_calls)} calls")
    return PASSED


def _compare(console: Console, library: Path, options: argparse.Namespace) -> int:
    expected = {id: row for id, row in read(options.table).items() if options.k.matches(id)}
    if not expected:
        console.print(f"{options.table}: no call matches -k {options.k.text}")
        return HARNESS
    found = plans(library, [*expected], options.n)
    different = [*differences(expected, found)]
    for each in different:
        console.print(str(each))
    calls_ = len({each.id for each in different})
    console.print(f"{len(expected)} calls, {calls_} of which launch something else than {options.table.name} says")
    return FAILED if different else PASSED
