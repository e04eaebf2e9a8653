"""`hunt`: look for calls beyond the catalogue that a library computes wrongly."""

from __future__ import annotations

import argparse
import secrets
import time
from pathlib import Path
from typing import Any

from bindings import BindingError
from conformance.candidates.candidate import Candidate, CandidateError, close_idle_workers, worker_of
from conformance.candidates.exports import absent
from conformance.catalogue.goldens.tensors import write
from conformance.catalogue.keywords import Keywords
from conformance.exit_codes import FAILED, HARNESS, PASSED
from conformance.judging.bench import Bench
from conformance.judging.hunt.coverage import Coverage
from conformance.judging.hunt.files import SequenceError, read_steps, write_steps
from conformance.judging.hunt.hunt import Found, Hunt
from conformance.judging.results import exit_code
from conformance.limits import ContractError
from conformance.limits.expectation import expect
from conformance.limits.noise import using
from conformance.operations import OPERATIONS
from conformance.report.hunted import lines_of_catalogue, lines_of_found, lines_of_hunt
from conformance.report.record import counted
from conformance.report.screen import say

from .candidates import add_one, contract_of, handed, one
from .options import add_command, add_contract, add_operations, keywords
from .run.repro.calls import Given
from .run.repro.keep import ReproError, check_new, pack

_EXAMPLES = """\
  hunt --library libyours.so --minutes 10                  every operation that it has, in turn
  hunt --library libyours.so -k softmax --minutes 2        operations whose name matches
  hunt --module mine.py --minutes 2                        in a module of Python
  hunt --cuda mine.cu --map mine.toml --minutes 2          in CUDA sources, on the emulated GPU
  hunt --library libyours.so -o gemm --seed 7              the same calls as last time
  hunt --library libyours.so --keep found/                 the failing calls as files that `run --inputs` takes
  hunt --library libyours.so --sequence found/2/sequence.json     calls in a row that failed, again

A library that is compiled for coverage (cuda/coverage/coverage.c) tells what its calls reach.  The catalogue's calls
are then made first, outside --minutes; the lines that they never reach are named, and the hunt goes there.
"""
_EXIT = "exit code: 0 nothing was found; 1 a call fails; 2 nothing was hunted"


def add_parser(commands: Any) -> None:
    """Register the command."""
    parser = add_command(commands, "hunt", "look for calls beyond the catalogue that fail", run, _EXAMPLES, _EXIT)
    add_one(parser, "the shared library to hunt in")
    parser.add_argument("--minutes", type=float, default=1.0, metavar="M", help="how long (default: %(default)s)")
    parser.add_argument("--calls", type=int, metavar="N", help="stop after N calls, less those that shrink a failure")
    parser.add_argument("--seed", type=int, help="the first draw (default: a fresh one, which is printed)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="write each failing call, shrunk, to a new folder")
    parser.add_argument("-k", type=keywords, default=Keywords(), metavar="WORDS", help="only operations that match")
    again = "judge the calls in a row of a file that --keep wrote, and draw none"
    parser.add_argument("--sequence", type=Path, metavar="FILE", help=again)
    add_operations(parser)
    add_contract(parser)
    parser.add_argument("--limit", type=float, default=20.0, metavar="S", help="seconds a call may take (default: 20)")


def run(options: argparse.Namespace) -> int:
    """Hunt, print what was found as it is found, and return the exit code."""
    seed = secrets.randbelow(2**31) if options.seed is None else options.seed
    try:
        if options.keep:
            check_new(options.keep)
        candidate = one(options)
        if options.sequence:
            return _again(options, candidate)
        asked = [name for name in options.operation or OPERATIONS if options.k.matches(name)]
        gone = set(absent(candidate))
        hunted = [operation for operation in asked if operation not in gone]
        if not hunted:
            got = f"none of {counted(len(asked), 'operation')}"
            say(f"expected an operation that {candidate.path} exports, got {got}", wrong=True)
            return HARNESS
        return _hunted(options, candidate, hunted, seed, is_whole=len(hunted) == len(OPERATIONS) - len(gone))
    except (BindingError, CandidateError, ContractError, ReproError, SequenceError, OSError) as error:
        say(error, wrong=True)
        return HARNESS
    finally:
        close_idle_workers()


def _again(options: argparse.Namespace, candidate: Candidate) -> int:
    """Judge a sequence that was kept, print what came of it, and return the exit code."""
    steps, declared = read_steps(options.sequence), contract_of(options.contract, candidate)
    with worker_of(candidate, 1, options.limit) as worker:
        result = Hunt(Bench(worker, declared=declared), [], 0).judge_steps(steps)
    if result is None:
        say(f"{options.sequence}: the reference itself overflows: nothing is known of the results", wrong=True)
        return HARNESS
    say(f"{result.operation}: {result.status}{': ' * bool(result.reason)}{result.reason}")
    return exit_code([result])


def _hunted(options: argparse.Namespace, candidate: Candidate, operations: list[str], seed: int, is_whole: bool) -> int:
    declared, found = contract_of(options.contract, candidate), 0
    started = time.monotonic()
    with worker_of(candidate, 1, options.limit) as worker:
        coverage = Coverage.of(worker, candidate.path)
        hunt = Hunt(Bench(worker, declared=declared), operations, seed, coverage)
        if coverage:
            say("\n".join(lines_of_catalogue(coverage, hunt.prepare(), operations)))
        for each in hunt.run(60 * options.minutes, options.calls):
            found += 1
            path = _keep(options.keep, found, each, hunt.bench) if options.keep else None
            say("\n".join(lines_of_found(found, each, handed(options), path)))
    if coverage:
        say("\n".join(lines_of_hunt(coverage, is_whole)))
    over = f", {hunt.passed_over} of them passed over: the reference itself overflows" if hunt.passed_over else ""
    over += f", {hunt.declined} of them not supported, as declared" if hunt.declined else ""
    calls = f"{counted(hunt.made, 'call')} of {counted(len(operations), 'operation')}{over}"
    say(f"{counted(found, 'failure')} in {calls}; {time.monotonic() - started:.0f} s, seed {seed}")
    return FAILED if found else PASSED


def _keep(folder: Path, number: int, found: Found, bench: Bench) -> Path:
    """Write what was shrunk: one call in the form of a golden, several by what they are drawn from."""
    if len(found.steps) > 1:
        write_steps(path := folder / f"{number}" / "sequence.json", found.steps)
        return path
    case = found.call.case
    arguments = case.arguments(found.call.seed)
    with using(bench.declared.of(case.operation).arithmetic):
        given = Given(case.operation, arguments, expect(case.operation, arguments))
    path = folder / f"{number}" / f"{case.operation}.safetensors"
    write(path, pack(given, bench))
    return path
