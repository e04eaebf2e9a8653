"""`report`: put runs together on one page."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from conformance.exit_codes import HARNESS, PASSED
from conformance.report.files import ReportError, read_jsonl
from conformance.report.markdown import write_summary
from conformance.report.page import write_page
from conformance.report.score import read_score
from conformance.report.screen import say

from .options import add_command

_EXAMPLES = """\
  report sm_80.jsonl sm_90.jsonl --page both.html     two runs side by side
  report run.jsonl --summary summary.md               a comment for a pull request
"""
_EXIT = "exit code: 0 written; 2 a file is no whole report, or cannot be written.  What the runs found does not count"


def add_parser(commands: Any) -> None:
    """Register the command."""
    parser = add_command(commands, "report", "put runs together on one page", run, _EXAMPLES, _EXIT)
    parser.add_argument("reports", type=Path, nargs="+", metavar="REPORT", help="what `run --jsonl` wrote")
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument("--page", type=Path, metavar="FILE", help="write a page that a browser shows (HTML)")
    wanted.add_argument("--summary", type=Path, metavar="FILE", help="write a comment for a pull request (Markdown)")
    parser.add_argument("--readings", type=Path, metavar="FILE", help="the score that `readings` wrote, for the page")


def run(options: argparse.Namespace) -> int:
    """Write what was asked for."""
    try:
        runs = [read_jsonl(path) for path in options.reports]
        score = read_score(options.readings) if options.readings else None
        if options.page:
            write_page(options.page, runs, score)
        else:
            write_summary(options.summary, runs)
    except ReportError as error:
        say(error, wrong=True)
        return HARNESS
    return PASSED
