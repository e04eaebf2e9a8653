"""`faults`: build libraries with mistakes in them, and see whether the judge finds and names them."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from conformance.catalogue.keywords import Keywords
from conformance.exit_codes import FAILED, HARNESS, PASSED
from conformance.judging.results import Result
from conformance.proof.faults import FAULTS, Fault, FaultError, FaultResult, build, judge
from conformance.proof.faults.frameworks import FAULTS as FRAMEWORK_FAULTS
from conformance.proof.faults.kernels import FAULTS as KERNEL_FAULTS
from conformance.proof.faults.table import together
from conformance.proof.faults.trial import scored
from conformance.report.files import read_jsonl
from conformance.report.score import Faults

from .options import add_command, cores, keywords, positive
from .run import command as judging

_EXAMPLES = """\
  faults                                 each fault in a library of its own, judged by the cases of its operations
  faults -k 'rope or refused' -v         some of them, each with what is said of it
  faults --kernels                       those of the kernels, run by the emulator of CUDA
  faults --frameworks                    those of a framework of strided tensors behind a map
  faults --together 10 --report page.html   one library with ten of them, judged as `run` does it
"""
_EXIT = (
    "exit code: 0 every fault is found, and of those not known to be said otherwise 90 % are said rightly; "
    "1 they are not; 2 nothing was built"
)
RIGHT = 0.9  # of the faults that are not known to be said otherwise, the first line of the diagnosis must be right


def add_parser(commands: Any) -> None:
    """Register the command."""
    what = "build the C library and the kernels with mistakes in them, and count how many are found and named"
    parser = add_command(commands, "faults", what, run, _EXAMPLES, _EXIT)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("-k", type=keywords, default=Keywords(), metavar="WORDS", help="only faults whose name matches")
    which.add_argument("--together", type=positive, metavar="N", help="one library with N faults, one of each family")
    side = parser.add_mutually_exclusive_group()
    side.add_argument("--c", dest="side", action="store_const", const=FAULTS, help="only faults of the C library")
    side.add_argument(
        "--kernels", dest="side", action="store_const", const=KERNEL_FAULTS, help="only faults of the kernels"
    )
    side.add_argument(
        "--frameworks", dest="side", action="store_const", const=FRAMEWORK_FAULTS, help="only faults behind a map"
    )
    parser.add_argument("-n", type=positive, default=cores(), metavar="N", help="processes (default: %(default)s)")
    parser.add_argument("-v", "--verbose", action="store_true", help="a line for each fault, also for those named")
    group = parser.add_argument_group("reports, with --together")
    for name, what in (("report", "a page (HTML)"), ("summary", "a comment (Markdown)"), ("jsonl", "JSON lines")):
        group.add_argument(f"--{name}", type=Path, metavar="FILE", help=f"write {what}, as `run` does")


def run(options: argparse.Namespace) -> int:
    """Build, judge, print; return the exit code."""
    console = Console(highlight=False, soft_wrap=True, markup=False)
    started = time.monotonic()
    try:
        results = _together(options) if options.together else _each(options)
        score = show(console, results, options.verbose or bool(options.together))
    except FaultError as error:
        console.print(str(error))
        return HARNESS
    console.print(f"{summed_up(score)}; {time.monotonic() - started:.0f} s")
    return PASSED if is_enough(score) else FAILED


def _each(options: argparse.Namespace) -> Iterable[FaultResult]:
    if options.report or options.summary or options.jsonl:
        raise FaultError("a report is of one library: --report, --summary and --jsonl go with --together N")
    known = options.side or (*FAULTS, *KERNEL_FAULTS, *FRAMEWORK_FAULTS)
    chosen = [fault for fault in known if options.k.matches(fault.name)]
    if not chosen:
        raise FaultError(f"no fault matches -k '{options.k.text}'; the first of {len(known)} is {known[0].name!r}")
    return judge(options.n, chosen)


def _together(options: argparse.Namespace) -> list[FaultResult]:
    """Judge one library with several faults by the command `run`, and read from its report what it says of each."""
    faults = together(options.together)
    with tempfile.TemporaryDirectory() as folder:
        report = options.jsonl or Path(folder) / "run.jsonl"
        called = f"the C library with {len(faults)} faults"
        asked = {"--library": f"{called}={build(*faults)}", "--jsonl": report, "-n": options.n}
        asked |= {"--report": options.report, "--summary": options.summary}
        given = [word for name, value in asked.items() if value for word in (name, str(value))]
        parser = argparse.ArgumentParser()
        judging.add_parser(parser.add_subparsers())
        if judging.run(parser.parse_args(["run", *given])) == HARNESS:
            raise FaultError("the run did not come to a verdict")
        found = [result for result in read_jsonl(report).results if not result.is_of_step]
    return [scored(fault, _of(fault, found)) for fault in faults]


def _of(fault: Fault, results: Sequence[Result]) -> list[Result]:
    return [result for result in results if result.operation in fault.operations]


def show(console: Console, results: Iterable[FaultResult], every: bool) -> Faults:
    """Print a line for each fault that is not found or not named, or for all, as they come; return the score."""
    judged = []
    for result in results:
        judged.append(result)
        if every or not result.right:
            told = "NOT FOUND" if not result.found else "named" if result.right else "NOT NAMED"
            known = f" (known: {result.unnamed})" if result.unnamed else ""
            console.print(f"{told:<10} {result.name}: {result.first_line}{known}", markup=False)
    missed = tuple(result.name for result in judged if not result.right)
    expected = sum(bool(result.unnamed) for result in judged)
    return Faults(sum(result.found for result in judged), len(judged), len(judged) - len(missed), missed, expected)


def summed_up(score: Faults) -> str:
    """Return the score in a sentence."""
    known = f", {score.known} known not to be" if score.known else ""
    right = f"{score.right} named or described rightly by the first line"
    return f"{score.found} of {score.total} faults found; {right}{known}"


def is_enough(score: Faults) -> bool:
    """Whether every fault is found, and enough are said rightly of those of which nothing else is known.

    A few that are known to be said otherwise may meet in a small part of all, which then says nothing new.
    """
    return score.found == score.total and score.right >= RIGHT * (score.total - score.known)
