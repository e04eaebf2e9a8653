"""`link`: what a program that calls every operation would lack in a library, before anything runs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from bindings import BindingError
from conformance.exit_codes import FAILED, HARNESS, PASSED
from conformance.linking import Linked, LinkError, link, link_exported
from conformance.operations import OPERATIONS
from conformance.report.record import counted

from .options import add_command, add_exported, add_operations

_EXAMPLES = """\
  link --library libyours.so                   a program that refers to every operation
  link --library libyours.so --exported        what the library itself lacks, and names that are nearly right
  link --library libyours.so -o rmsnorm,silu
"""
_EXIT = "exit code: 0 it links; 1 it does not, or a name is nearly right; 2 there is no linker, or no library"


def add_parser(commands: Any) -> None:
    """Register the command."""
    parser = add_command(commands, "link", "link a program that refers to every operation", run, _EXAMPLES, _EXIT)
    parser.add_argument("--library", type=Path, required=True, metavar="PATH", help="the shared library")
    add_operations(parser)
    add_exported(parser)


def run(options: argparse.Namespace) -> int:
    """Link, print, return the exit code."""
    symbols = [OPERATIONS[operation].symbol for operation in options.operation or OPERATIONS]
    try:
        found: Linked = link_exported(options.library) if options.exported else link(options.library, symbols)
    except (BindingError, LinkError, OSError) as error:
        print(error)
        return HARNESS
    print(*found.sentences, sep="\n", end="\n" * bool(found.sentences))
    if not found.sentences:
        what = "what it exports" if options.exported else counted(len(symbols), "operation")
        print(f"{options.library.name}: a program that refers to {what} links")
    return FAILED if found.sentences else PASSED
