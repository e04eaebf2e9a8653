"""`hunt`: look for calls beyond the catalogue that a library computes wrongly."""

from __future__ import annotations

import argparse
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bindings import BindingError
from conformance.candidates.candidate import Candidate, CandidateError
from conformance.candidates.exports import absent, refuse_strangers
from conformance.candidates.worker.coverage import reached
from conformance.candidates.worker.worker import Worker
from conformance.catalogue.goldens.tensors import write
from conformance.catalogue.keywords import Keywords
from conformance.exit_codes import FAILED, HARNESS, PASSED
from conformance.judging.bench import Bench
from conformance.judging.hunt.coverage import Coverage
from conformance.judging.hunt.hunt import Found, Hunt
from conformance.limits import ContractError, read_contract
from conformance.limits.expectation import expect
from conformance.limits.noise import using
from conformance.operations import OPERATIONS
from conformance.program import run_command
from conformance.report.record import counted
from conformance.report.screen import say

from .options import add_command, add_contract, add_operations, keywords
from .run.repro.calls import Given
from .run.repro.keep import ReproError, check_new, pack

_EXAMPLES = """\
  hunt --library libyours.so --minutes 10                  every operation that it has, in turn
  hunt --library libyours.so -k softmax --minutes 2        operations whose name matches
  hunt --library libyours.so -o gemm --seed 7              the same calls as last time
  hunt --library libyours.so --keep found/                 the failing calls as files that `run --inputs` takes
"""
_EXIT = "exit code: 0 nothing was found; 1 a call fails; 2 nothing was hunted"


def add_parser(commands: Any) -> None:
    """Register the command."""
    parser = add_command(commands, "hunt", "look for calls beyond the catalogue that fail", run, _EXAMPLES, _EXIT)
    parser.add_argument("--library", type=Path, required=True, metavar="PATH", help="the shared library to hunt in")
    parser.add_argument("--minutes", type=float, default=1.0, metavar="M", help="how long (default: %(default)s)")
    parser.add_argument("--calls", type=int, metavar="N", help="stop after N calls, less those that shrink a failure")
    parser.add_argument("--seed", type=int, help="the first draw (default: a fresh one, which is printed)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="write each failing call, shrunk, to a new folder")
    parser.add_argument("-k", type=keywords, default=Keywords(), metavar="WORDS", help="only operations that match")
    add_operations(parser)
    add_contract(parser)
    parser.add_argument("--limit", type=float, default=20.0, metavar="S", help="seconds a call may take (default: 20)")


def run(options: argparse.Namespace) -> int:
    """Hunt, print what was found as it is found, and return the exit code."""
    seed = secrets.randbelow(2**31) if options.seed is None else options.seed
    try:
        if options.keep:
            check_new(options.keep)
        refuse_strangers(options.library)
        asked = [name for name in options.operation or OPERATIONS if options.k.matches(name)]
        gone = set(absent(Candidate(options.library)))
        hunted = [operation for operation in asked if operation not in gone]
        if not hunted:
            got = f"none of {counted(len(asked), 'operation')}"
            say(f"expected an operation that {options.library} exports, got {got}", wrong=True)
            return HARNESS
        return _hunted(options, hunted, seed, is_whole=len(hunted) == len(OPERATIONS) - len(gone))
    except (BindingError, CandidateError, ContractError, ReproError, OSError) as error:
        say(error, wrong=True)
        return HARNESS


def _hunted(options: argparse.Namespace, operations: list[str], seed: int, is_whole: bool) -> int:
    declared, found = read_contract(options.contract), 0
    started = time.monotonic()
    with Worker(options.library.resolve(), limit_s=options.limit) as worker:
        coverage = Coverage(worker, options.library) if reached(worker) is not None else None
        hunt = Hunt(Bench(worker, declared=declared), operations, seed, coverage)
        if coverage:
            say("\n".join(_of_catalogue(coverage, hunt.prepare(), operations)))
        for one in hunt.run(60 * options.minutes, options.calls):
            found += 1
            path = _keep(options.keep, found, one, hunt.bench) if options.keep else None
            say("\n".join(_lines(found, one, options, path)))
    if coverage:
        say("\n".join(_of_hunt(coverage, is_whole)))
    over = f", {hunt.passed_over} of them passed over: the reference itself overflows" if hunt.passed_over else ""
    calls = f"{counted(hunt.made, 'call')} of {counted(len(operations), 'operation')}{over}"
    say(f"{counted(found, 'failure')} in {calls}; {time.monotonic() - started:.0f} s, seed {seed}")
    return FAILED if found else PASSED


def _of_catalogue(coverage: Coverage, calls: int, operations: list[str]) -> Iterator[str]:
    """What the catalogue's calls reach of the functions that they enter, and which lines they never reach."""
    all_places = coverage.places
    there = f"{len(all_places & coverage.catalogue)} of {counted(len(all_places), 'place')}"
    yield f"coverage: {counted(calls, 'call')} of the catalogue ({counted(len(operations), 'operation')}) reach {there}"
    if missed := list(coverage.missed(coverage.catalogue)):
        yield "the catalogue never reaches"
        yield from (f"   {line}" for line in missed)


def _of_hunt(coverage: Coverage, is_whole: bool) -> Iterator[str]:
    """What the hunt has reached beyond that, and what no call has; is_whole: in every operation of the library."""
    new = coverage.reached - coverage.catalogue
    yield f"coverage: the hunt reached {counted(len(new), 'place')} more"
    if new and (missed := list(coverage.missed(coverage.reached))):
        yield "no call reached"
        yield from (f"   {line}" for line in missed)
    if is_whole and coverage.not_entered:
        yield f"functions that no call entered: {', '.join(coverage.not_entered)}"


def _keep(folder: Path, number: int, found: Found, bench: Bench) -> Path:
    """Write the shrunk call in the form of a golden."""
    case = found.call.case
    arguments = case.arguments(found.call.seed)
    with using(bench.declared.of(case.operation).arithmetic):
        given = Given(case.operation, arguments, expect(case.operation, arguments))
    path = folder / f"{number}" / f"{case.operation}.safetensors"
    write(path, pack(given, bench))
    return path


def _lines(number: int, found: Found, options: argparse.Namespace, path: Path | None) -> Iterator[str]:
    result = found.result
    yield f"{number}. {found.call.operation}: {result.headline}"
    yield f"   {result.status} where {found.call.described}"
    yield f"   {result.reason}"
    yield f"   drawn as call {found.number}, shrunk in {counted(found.shrinking, 'call')}, from {found.drawn.described}"
    if path:
        yield f"   repeat: {run_command()} --library {options.library} --inputs {path}"
    else:
        yield f"   `--keep DIR` writes its arguments to a file that `{run_command()} --inputs` takes"
