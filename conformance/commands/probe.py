"""`probe`: what precision a library computes in, beside what is declared."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from bindings import BindingError
from bindings.shared_object.misnamed import listed
from conformance.candidates.candidate import Candidate, CandidateError, close_idle_workers, worker_of
from conformance.candidates.exports import absent
from conformance.catalogue.keywords import Keywords
from conformance.exit_codes import FAILED, HARNESS
from conformance.ids import property_of
from conformance.judging.bench import Bench
from conformance.judging.probes import PROPERTIES, judge_probe
from conformance.judging.results import Result, Status, exit_code
from conformance.limits import Contract, ContractError
from conformance.report.record import counted
from conformance.report.screen import Screen

from .candidates import add_one, contract_of, one
from .options import add_command, add_contract, add_exported, add_operations, keywords, nothing
from .selection import select

_EXAMPLES = """\
  probe --library libyours.so                      every operation's precision, beside that of the header
  probe --library libyours.so --contract tf32      beside what is declared
  probe --library libyours.so -k gemm --json       for machines
  probe --module mine.py --exported                a module of Python
"""

_NAMED = 8  # operations that a line names
_WIDTH = 160  # of the table where nobody's terminal sets one


def add_parser(commands: Any) -> None:
    """Register the command."""
    parser = add_command(commands, "probe", "find what precision a library computes in", run, _EXAMPLES)
    add_one(parser, "the shared library to probe")
    add_contract(parser)
    parser.add_argument("-k", type=keywords, default=Keywords(), metavar="WORDS", help="only ids that match")
    add_operations(parser)
    add_exported(parser)
    parser.add_argument("--limit", type=float, default=20.0, metavar="S", help="seconds a call may take (default: 20)")
    parser.add_argument("--json", action="store_true", help="print a list of objects instead of a table")


def run(options: argparse.Namespace) -> int:
    """Probe, print, and return the exit code: 1 also where probed operations are not exported, but for --exported."""
    console = Screen(width=None if sys.stdout.isatty() else _WIDTH)
    asked = select(options.k, (), options.operation).of_probes()
    if not asked:
        return nothing(console, options)
    try:
        candidate = one(options)
        gone = [operation for operation in absent(candidate) if operation in asked.operations]
        results, declared = _probed(asked.without(gone).cases, candidate, options)
    except (BindingError, CandidateError, ContractError, OSError) as error:
        console.print(str(error), markup=False, highlight=False, soft_wrap=True)
        return HARNESS
    finally:
        close_idle_workers()
    if options.json:
        print(json.dumps([_record(result, declared) for result in results], indent=1))
    else:
        _show(console, results, declared, gone)
    if gone and not options.exported:
        return max(FAILED, exit_code(results)) if results else FAILED
    return exit_code(results)


def _probed(ids: Sequence[str], candidate: Candidate, options: argparse.Namespace) -> tuple[list[Result], Contract]:
    """Probe a candidate; return the results, and what is declared.  Raises what opening either does."""
    declared = contract_of(options.contract, candidate)
    with worker_of(candidate, 1, options.limit) as worker:
        bench = Bench(worker, declared=declared)
        return [judge_probe(id, bench) for id in ids], declared


def _property(result: Result) -> str:
    return property_of(result.id)


def _declared(result: Result, declared: Contract) -> str:
    """What is declared of the property, in a word."""
    return declared.of(result.operation).said(_property(result))


def _record(result: Result, declared: Contract) -> dict[str, str]:
    return {
        "operation": result.operation,
        "property": _property(result),
        "declared": _declared(result, declared),
        "found": result.detail,
        "status": result.status,
        "reason": result.reason,
    }


def _show(console: Console, results: Sequence[Result], declared: Contract, gone: Sequence[str]) -> None:
    """Print a row for each operation: what was found, and what is declared where that does not hold."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("operation", *(name.replace("_", " ") for name in PROPERTIES)):
        table.add_column(heading)
    by_operation: dict[str, dict[str, Result]] = {}
    for result in results:
        by_operation.setdefault(result.operation, {})[_property(result)] = result
    for operation, found in by_operation.items():
        style = "" if all(result.status is Status.PASS for result in found.values()) else "red"
        table.add_row(operation, *(_cell(found.get(name), declared) for name in PROPERTIES), style=style)
    console.print(table)
    wrong = [result for result in results if not result.is_fine]
    for result in wrong:
        console.print(f"{result.status} {result.id}: {result.reason}", markup=False, highlight=False, soft_wrap=True)
    failed = sum(result.was_run for result in wrong)
    unmade = f", {len(wrong) - failed} could not be made" if failed < len(wrong) else ""
    console.print(f"\n{counted(len(results), 'probe')} by the contract {declared.name}: {failed} did not hold{unmade}")
    if gone:
        printed = f"not exported: {counted(len(gone), 'operation')} ({listed(gone, _NAMED)})"
        console.print(printed, markup=False, highlight=False, soft_wrap=True)


def _cell(result: Result | None, declared: Contract) -> str:
    if result is None:
        return ""
    if result.status not in (Status.PASS, Status.FAIL):
        return str(result.status)
    short = result.detail.partition("(")[2].rstrip(")") or result.detail
    return short if result.status is Status.PASS else f"{short}, not {_declared(result, declared)}"
