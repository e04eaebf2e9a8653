"""`list`: the cases that a run would judge."""

from __future__ import annotations

import argparse
from typing import Any

from rich.console import Console

from .options import add_command, add_selection, chosen, nothing

_EXAMPLES = """\
  list                         all of them, one id a line
  list -k 'softmax and late'   those of softmax whose maximum lies late in the row
"""
_EXIT = "exit code: 0 some were listed; 2 there are none"


def add_parser(commands: Any) -> None:
    """Register the command."""
    add_selection(add_command(commands, "list", "list the cases", run, _EXAMPLES, _EXIT))


def run(options: argparse.Namespace) -> int:
    """Print one id a line: cases, then training steps."""
    selection = chosen(options)
    if not selection:
        return nothing(Console(stderr=True), options)
    for id in (*selection.cases, *selection.steps):
        print(id)
    return 0
