"""Options that several commands have, and how all of them describe themselves."""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection
from typing import Any

from rich.console import Console

from conformance.catalogue.keywords import KeywordError, Keywords
from conformance.exit_codes import EXIT, HARNESS
from conformance.limits import HEADER, shipped
from conformance.program import program

from .selection import Selection, UnknownOperationError, operations_named, select


def add_command(
    commands: Any, name: str, what: str, run: Any, examples: str, exit: str = EXIT
) -> argparse.ArgumentParser:
    """Register a command: `what` is its line in the list of commands and the head of its own help."""
    epilog = f"examples:\n{examples.rstrip()}\n\n{exit}"
    layout = argparse.RawDescriptionHelpFormatter
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=what, description=what[0].upper() + what[1:] + ".", epilog=epilog, formatter_class=layout
    )
    parser.set_defaults(run=run)
    return parser


def add_selection(parser: argparse.ArgumentParser) -> Any:
    """Add what chooses cases, -k, -o and --case; return the group of options that exclude --case."""
    group = parser.add_argument_group("which cases")
    wanted = "only ids that contain the words, e.g. 'rope and not special' (tt is in scatter_add too)"
    group.add_argument("-k", type=keywords, default=Keywords(), metavar="WORDS", help=wanted)
    add_operations(group)
    exact = group.add_mutually_exclusive_group()
    exact.add_argument("--case", action="append", default=[], metavar="ID", help="exactly this case (repeatable)")
    part = "only the K-th of N parts of the operations and steps, as 2/3: for machines that share the work"
    exact.add_argument("--shard", type=shard, metavar="K/N", help=part)
    return exact


def add_operations(group: Any) -> None:
    """Add -o: operations by their exact names."""
    wanted = (
        "only these operations (repeatable; no training steps): rmsnorm,silu are those two, "
        "'rmsnorm*' all that begin so, '*_bf16' those in that format"
    )
    group.add_argument("-o", "--operation", type=operation, action="extend", default=[], metavar="NAMES", help=wanted)


def add_exported(group: Any) -> None:
    """Add --exported: what a library has not is listed, and no failure."""
    wanted = "judge what the library exports and list the rest: exit 0 where all that it exports is right"
    group.add_argument("--exported", action="store_true", help=wanted)


def add_contract(parser: argparse.ArgumentParser) -> None:
    """Add --contract: the precision that limits follow."""
    wanted = (
        f"what the library declares of its precision: {', '.join(shipped())}, or a TOML file (default: %(default)s)"
    )
    parser.add_argument("--contract", default=HEADER.name, metavar="NAME", help=wanted)


def keywords(text: str) -> Keywords:
    """Read the value of -k for argparse."""
    try:
        return Keywords(text)
    except KeywordError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def operation(text: str) -> tuple[str, ...]:
    """Read the value of -o for argparse."""
    try:
        return operations_named(text)
    except UnknownOperationError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def positive(text: str) -> int:
    """Read a whole number from 1 for argparse."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1, got {text!r}")
    return int(text)


def shard(text: str) -> tuple[int, int]:
    """Read which of several parts for argparse: 2/3 is the second of three."""
    which, _, count = text.partition("/")
    if not (which.isdigit() and count.isdigit() and 1 <= int(which) <= int(count)):
        raise argparse.ArgumentTypeError(f"expected one of several parts, as 2/3, got {text!r}")
    return int(which), int(count)


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def chosen(options: argparse.Namespace, absent: Collection[str] = ()) -> Selection:
    """Return what -k, -o, --case and --shard choose, of a library without these operations."""
    found = select(options.k, options.case, options.operation, absent)
    return found.part(*options.shard) if options.shard else found


def nothing(console: Console, options: argparse.Namespace) -> int:
    """Say that nothing was chosen: that is a failure, never a pass."""
    asked = [f"--case '{id}'" for id in getattr(options, "case", ())]
    asked += [f"-k '{options.k.text}'"] * bool(options.k)
    named = getattr(options, "operation", ())
    asked += [f"-o {','.join(named)}"] * bool(named)
    which, parts = getattr(options, "shard", None) or (1, 1)
    asked += [f"--shard {which}/{parts}"] * (parts > 1)
    console.print(f"no case matches {' '.join(asked)}; `{program()} list` shows all", markup=False)
    return HARNESS
