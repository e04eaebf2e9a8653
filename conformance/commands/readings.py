"""`readings`: plant every wrong reading, and count how many the cases find and the diagnosis names."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from conformance.catalogue.cases import CASES
from conformance.catalogue.goldens import GoldenError
from conformance.catalogue.keywords import Keywords
from conformance.exit_codes import HARNESS
from conformance.proof.faults import FAULTS, FaultError
from conformance.proof.faults import judge as judge_faults
from conformance.proof.readings.score import STEPPED, _followed, judge, scored, stepped
from conformance.proof.readings.trial import ReadingResult
from conformance.report.score import Faults, Score, write_score

from . import faults as planting
from .options import add_command, cores, keywords, positive, shard

_EXAMPLES = """\
  readings                       every wrong reading of every operation, and every fault of the C library
  readings -k 'rope or softmax'  those of some operations
  readings --shard 2/3           those of the second third of the operations
  readings --no-faults           without a C compiler
  readings --json score.json     the score, for `report --readings`
"""
_EXIT = "exit code: 0 every reading is found, or proved equal, and every fault; 1 one is not; 2 nothing was planted"


def add_parser(commands: Any) -> None:
    """Register the command."""
    what = "plant wrong readings and count how many the cases find and the diagnosis names"
    parser = add_command(commands, "readings", what, run, _EXAMPLES, _EXIT)
    wanted = "only those of operations that match, e.g. 'rope or softmax'"
    parser.add_argument("-k", type=keywords, default=Keywords(), metavar="WORDS", help=wanted)
    part = "only the K-th of N parts of these operations, as 2/3"
    parser.add_argument("--shard", type=shard, default=(1, 1), metavar="K/N", help=part)
    parser.add_argument("-n", type=positive, default=cores(), metavar="N", help="processes (default: %(default)s)")
    parser.add_argument("-v", "--verbose", action="store_true", help="a line for each reading")
    without = "leave out the builds of the C library with a fault in them"
    parser.add_argument("--no-faults", action="store_true", help=without)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the score, for `report --readings`")


def run(options: argparse.Namespace) -> int:
    """Plant, count, print; return the exit code."""
    console = Console(highlight=False, soft_wrap=True)
    known = (*dict.fromkeys(case.operation for case in CASES.values()), *STEPPED)
    operations = [name for name in known if options.k.matches(name)]
    if not operations:
        console.print(f"no operation matches -k '{options.k.text}'", markup=False)
        return HARNESS
    which, parts = options.shard
    if parts > len(operations):
        console.print(f"--shard {which}/{parts}: {len(operations)} operations are not as many parts", markup=False)
        return HARNESS
    operations = operations[which - 1 :: parts]
    started = time.monotonic()
    try:
        results = judge(console, operations, options.n)
    except GoldenError as error:
        console.print(str(error), markup=False)
        return HARNESS
    results += stepped(console, [name for name in STEPPED if name in operations], options.n)
    show(console, results, options.verbose)
    try:
        faults = None if options.no_faults else _faults(console, operations, options)
    except FaultError as error:
        console.print(f"{error}\n--no-faults leaves out the builds of the C library", markup=False)
        return HARNESS
    score = scored(results, faults)
    close(console, score, results, time.monotonic() - started)
    if options.json:
        write_score(options.json, score)
    wrong = any(one.survives or one.is_disproved for one in results)
    return int(wrong or (faults is not None and not planting.is_enough(faults)))


def _faults(console: Console, operations: Sequence[str], options: argparse.Namespace) -> Faults:
    """Build and judge the faults that are in these operations.  Raises FaultError."""
    chosen = [fault for fault in FAULTS if set(operations) & set(fault.operations)]
    results = _followed(console, "building", judge_faults(options.n, chosen), len(chosen))
    return planting.show(console, results, options.verbose)


def show(console: Console, results: Sequence[ReadingResult], every: bool) -> None:
    """Print a line for each operation; every: one for each reading too."""
    console.print(f"[bold]{'operation':<28} {'found':>9} {'named':>9} {'weakest':>9}  reading[/]")
    by_operation: dict[str, list[ReadingResult]] = {}
    for one in results:
        by_operation.setdefault(one.reading.operation, []).append(one)
    for operation, few in by_operation.items():
        told = [one for one in few if one.failed]
        weakest = min(told, key=lambda one: one.margin, default=None)
        counts = f"{f'{len(told)}/{len(few)}':>9} {_named_of(told):>9}"
        last = f"{_number(weakest.margin):>9}  {escape(weakest.reading.name)}" if weakest else ""
        console.print(f"{operation:<28} {counts} {last}")
        for one in few if every else ():
            console.print(f"    {escape(_line(one))}")


def _line(one: ReadingResult) -> str:
    counted = f"{len(one.failed)} of {len(one.attempts)} cases, {_number(one.margin)} times the limit"
    said = f"; {'named' if one.right else 'NOT NAMED'}: {one.line}" if one.is_diagnosed else ""
    return f"{one.reading.name}: {counted}{said}"


def _named_of(told: Sequence[ReadingResult]) -> str:
    diagnosed = [one for one in told if one.is_diagnosed]
    return f"{sum(one.right for one in diagnosed)}/{len(diagnosed)}" if diagnosed else "-"


def _number(value: float) -> str:
    return "exact" if math.isinf(value) else f"{value:.3g}"


def close(console: Console, score: Score, results: Sequence[ReadingResult], seconds: float) -> None:
    """Print what survived and why, what the diagnosis missed, and the score."""
    for one in results:
        if one.survives:
            console.print(f"[red]SURVIVES[/] {escape(one.reading.id)}: no case refuses it, and it carries no proof")
        elif one.is_disproved:
            console.print(
                f"[red]FOUND[/] {escape(one.reading.id)} by {one.failed[0].case}, although it carries a proof"
            )
        elif not one.failed:
            console.print(f"EQUAL {escape(one.reading.id)}: {escape(one.reading.equal)}")
    for one in results:
        if one.is_diagnosed and not one.right:
            console.print(f"NOT NAMED {escape(one.reading.id)}: {escape(one.line)}")
    console.print(f"\n{score.found} of {score.total} wrong readings found; {seconds:.0f} s")
    console.print(f"weakest: {escape(score.weakest)}, {_number(score.margin)} times its limit")
    right, total = score.diagnosis.right, score.diagnosis.total
    if total:
        console.print(f"{right} of {total} named or described rightly by the first line: {right / total:.1%}")
    if score.faults:
        console.print(planting.summed_up(score.faults))
