"""`diff`: compare two reports."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from conformance.exit_codes import FAILED, HARNESS, PASSED
from conformance.report.difference import compare, lines
from conformance.report.files import ReportError, read_jsonl
from conformance.report.screen import say

from .options import add_command

_EXAMPLES = """\
  diff main.jsonl branch.jsonl      what a change broke or mended
  diff sm_80.jsonl sm_90.jsonl      the same library on two devices
"""
_EXIT = "exit code: 0 nothing is worse; 1 something fails, or is not judged, that was fine; 2 a file is no report"


def add_parser(commands: Any) -> None:
    """Register the command."""
    parser = add_command(commands, "diff", "compare two reports that `run --jsonl` wrote", run, _EXAMPLES, _EXIT)
    parser.add_argument("before", type=Path, metavar="REPORT")
    parser.add_argument("after", type=Path, metavar="REPORT")
    parser.add_argument("--all", action="store_true", help="every case, however many")


def run(options: argparse.Namespace) -> int:
    """Print what changed."""
    try:
        before, after = read_jsonl(options.before), read_jsonl(options.after)
    except ReportError as error:
        say(error, wrong=True)
        return HARNESS
    say("\n".join(lines(before, after, options.all)))
    return FAILED if compare(before, after).is_worse else PASSED
