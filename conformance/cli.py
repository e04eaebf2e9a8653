"""The command line: `run`, `list`, and the commands of the rooms beside it."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from bindings import BindingError
from bindings.examine import examine

from . import false_alarms
from .cases import CASES, REFUSALS
from .report.files import write_jsonl, write_junit
from .report.terminal import followed, show
from .results import FAILED, HARNESS, Result, exit_code
from .runner import Setting, judge_all
from .selection import Selection, select
from .steps import corpus

_WHAT = "Judge a library that exports the operations of cuda/include/assayer.h against the reference."
_EXIT = "exit code: 0 all passed, 1 the library failed, 2 the judge itself failed or nothing was judged"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    options = _parser().parse_args(arguments)
    code: int = options.run(options)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m conformance", description=_WHAT, epilog=_EXIT)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="judge a library", epilog=_EXIT)
    run.set_defaults(run=_run)
    run.add_argument("--library", type=Path, required=True, metavar="PATH", help="the shared library to judge")
    _add_selection(run)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    run.add_argument("-n", type=_positive, default=cores, metavar="N", help="processes (default: %(default)s)")
    run.add_argument("-x", action="store_true", help="stop at the first case that does not pass")
    run.add_argument("--seed", type=int, default=0, help="another draw of every case's data (default: 0)")
    run.add_argument("--limit", type=float, default=20.0, metavar="S", help="seconds a call may take (default: 20)")
    run.add_argument("--declarations", type=Path, metavar="FILE", help="the library's own declarations, to compare")
    run.add_argument("--jsonl", type=Path, metavar="FILE", help="write a line of JSON for each case")
    run.add_argument("--junit", type=Path, metavar="FILE", help="write a JUnit file")
    listing = commands.add_parser("list", help="list the cases")
    listing.set_defaults(run=_list)
    _add_selection(listing)
    false_alarms.add_parser(commands)
    return parser


def _add_selection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-k", default="", metavar="WORDS", help="only ids that hold every word, e.g. 'softmax late'")
    parser.add_argument("--case", action="append", default=[], metavar="ID", help="exactly this case (repeatable)")


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1, got {text!r}")
    return int(text)


def _list(options: argparse.Namespace) -> int:
    selection = select(options.k, options.case)
    if not selection:
        return _nothing(Console(stderr=True), options)
    for id in (*selection.cases, *selection.steps):
        print(id)
    return 0


def _nothing(console: Console, options: argparse.Namespace) -> int:
    asked = f"--case {' '.join(options.case)}" if options.case else f"-k {options.k!r}"
    console.print(f"no case matches {asked}; `python -m conformance list` shows all", markup=False)
    return HARNESS


def _run(options: argparse.Namespace) -> int:
    console = Console()
    selection = select(options.k, options.case)
    if not selection:
        return _nothing(console, options)
    try:
        problems = examine(options.library, options.declarations)
    except (BindingError, OSError) as error:
        console.print(str(error), markup=False)
        return HARNESS
    for line in problems:
        console.print(line, markup=False, highlight=False)
    started = time.monotonic()
    results = _judged(console, options, selection)
    seconds = time.monotonic() - started
    show(console, results, seconds)
    run = {"library": str(options.library), "seed": options.seed, "seconds": seconds, "problems": problems}
    if selection.steps:
        run["text"] = corpus()[1]
        console.print(f"training steps on the embedded corpus, SHA-256 of its tokens {run['text'][:16]}")
    if options.jsonl:
        write_jsonl(options.jsonl, results, run)
    if options.junit:
        write_junit(options.junit, results, seconds)
    code = exit_code(results, floor=1)
    return FAILED if problems and code == 0 and selection.is_whole else code


def _judged(console: Console, options: argparse.Namespace, selection: Selection) -> list[Result]:
    setting = Setting(options.library.resolve(), options.seed, limit_s=options.limit)
    order = {id: place for place, id in enumerate((*CASES, *REFUSALS))}
    results: list[Result] = []
    batches = judge_all(selection.cases, selection.steps, setting, options.n)
    for result in followed(console, batches, selection.expected):
        if selection.wants(result.id):
            results.append(result)
            if options.x and result.status != "PASS":
                break
    return sorted(results, key=lambda r: (order.get(r.id, len(order)), r.id))
