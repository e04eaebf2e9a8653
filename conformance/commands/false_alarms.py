"""Counts false alarms: correct implementations judged on fresh data, where every verdict that is not PASS is wrong.

A run is one case of the catalogue or of its design, drawn with one seed, judged for one implementation; the first seed
draws the order of the cases, of which as many are taken as the runs need.  One half of the processes computes with this
machine's widest instructions, the other half with its plainest: other kernels of the BLAS, of NumPy and of the library.
Calls at full size and calls in a row are among the cases of libraries, which run them in processes of their own.
"""

from __future__ import annotations

import argparse
import secrets
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import Any

from rich.console import Console

from bindings import BindingError
from conformance.candidates.candidate import CandidateError, close_idle_workers
from conformance.catalogue.cases import CASES, DESIGNED, SEQUENCES
from conformance.catalogue.full import FULL
from conformance.catalogue.keywords import Keywords
from conformance.exit_codes import HARNESS
from conformance.limits import Contract, ContractError, read_contract
from conformance.pool import PoolError
from conformance.proof.differences import DifferenceError, read_differences
from conformance.proof.false_alarms import Run, is_apart, known_implementations, results, shares
from conformance.proof.headroom import TableError
from conformance.proof.honest_runs import count_runs
from conformance.report.progress import HEARTBEAT_S
from conformance.report.record import counted

from .candidates import add_framework, named
from .honest_libraries import runs_apart
from .honest_modules import Counting, count_modules
from .options import add_contract, keywords, nothing, positive


def add_parser(subparsers: Any) -> None:
    """Register the command `false-alarms`."""
    parser = subparsers.add_parser("false-alarms", help="judge correct implementations", description=__doc__)
    parser.set_defaults(run=run)
    parser.add_argument("--runs", type=positive, default=20000, metavar="N", help="stop after N runs (default: 20000)")
    parser.add_argument("--seed", type=int, help="the first seed (default: a fresh one)")
    parser.add_argument("--case", action="append", default=[], metavar="ID", help="only this case (repeatable)")
    parser.add_argument("--library", action="append", type=Path, default=[], metavar="PATH", help="a correct library")
    module = "instead: an honest module of Python, judged in a worker as `run` judges it (repeatable)"
    parser.add_argument("--module", action="append", type=named, default=[], metavar="[NAME=]FILE.py", help=module)
    add_framework(parser)
    parser.add_argument("--seeds", type=positive, default=1, metavar="N", help="draws of a module's cases (default: 1)")
    kept = "a module's rows go to this table of tab-separated values, in place of those that it has of it"
    parser.add_argument("--table", type=Path, metavar="FILE.tsv", help=kept)
    differences = (
        "where modules are known to differ from the header: such failures are counted, and are no alarm (TOML)"
    )
    parser.add_argument("--known", type=Path, metavar="FILE.toml", help=differences)
    limit = "seconds that a call of a module, at full size or in sequence may take (default: 20)"
    parser.add_argument("--limit", type=float, default=20.0, metavar="S", help=limit)
    parser.add_argument("-k", type=keywords, default=Keywords(), metavar="WORDS", help="only ids that match")
    add_contract(parser)
    parser.add_argument("-n", type=positive, default=2, metavar="N", help="processes (default: 2)")
    whole = "instead: whole training runs on the goldens' texts and N fresh ones, each in an envelope of its own"
    parser.add_argument("--training-runs", type=int, metavar="N", help=whole)


def run(options: argparse.Namespace) -> int:
    """Count, print, and return 1 where there was a false alarm."""
    seed = secrets.randbelow(2**31) if options.seed is None else options.seed
    libraries = [path.resolve() for path in options.library]
    held = [*CASES, *DESIGNED, *FULL, *SEQUENCES] if libraries else [*CASES, *DESIGNED]
    if wrong := _unknown(options.case, held):
        print(wrong)
        return HARNESS
    ids = options.case or [*filter(options.k.matches, held)]
    if not ids:
        return nothing(Console(highlight=False), options)
    if options.training_runs is not None:
        return count_runs(range(seed, seed + options.training_runs), libraries, options.n)
    try:
        declared = read_contract(options.contract)
    except ContractError as error:
        print(error)
        return HARNESS
    if options.module:
        return _modules(options, range(seed, seed + options.seeds), declared)
    try:
        return _count(ids, seed, libraries, declared, options)
    except (BindingError, CandidateError, PoolError) as error:
        print(error)
        return HARNESS
    finally:
        close_idle_workers()


def _unknown(ids: Sequence[str], held: Collection[str]) -> str:
    """What is wrong with the ids of --case; nothing where all are cases."""
    for id in ids:
        if id not in held:
            near = get_close_matches(id, held, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            return f"--case {id}: expected a case, got no case's id{hint}"
    return ""


def _count(ids: Sequence[str], seed: int, libraries: list[Path], declared: Contract, options: Any) -> int:
    """Judge as many runs as are asked for, and print what came of them; return 1 where there was a false alarm."""
    names = known_implementations(libraries, declared)
    dealt = shares(ids, seed, options.runs, options.n, names, len(libraries))
    drawn = [unit for share in dealt for unit in share]
    count = len({id for id, _ in drawn})
    print(f"{count} of {len(ids)} cases, {len(drawn)} draws from seed {seed}, {len(names)} implementations")
    started = time.monotonic()
    apart = [unit for unit in drawn if is_apart(unit[0])]
    within = [[unit for unit in share if not is_apart(unit[0])] for share in dealt]
    judged = results(within, libraries, declared) if len(apart) < len(drawn) else iter(())
    runs = list(_told(chain(judged, runs_apart(apart, libraries, declared, options.n, options.limit))))
    show(runs, time.monotonic() - started)
    return int(any(r.line for r in runs) or not runs)


def _told(results: Iterable[Run]) -> Iterator[Run]:
    """Pass runs on as they come; print each false alarm, and how far it is."""
    spoken = time.monotonic()
    for done, result in enumerate(results, 1):
        if result.line:
            print(f"FALSE ALARM {result.implementation}: {result.line}\n    {result.command}", flush=True)
        if time.monotonic() - spoken > HEARTBEAT_S:
            print(f"  {counted(done, 'run')} judged", flush=True)
            spoken = time.monotonic()
        yield result


def _modules(options: argparse.Namespace, seeds: range, declared: Contract) -> int:
    print(f"seeds {seeds.start} to {seeds[-1]}")
    try:
        known = read_differences(options.known) if options.known else []
        kept = (known, options.n, options.limit, options.table)
        return count_modules(options.module, Counting(options.framework, seeds, options.k, declared, *kept))
    except (BindingError, CandidateError, DifferenceError, TableError, OSError) as error:
        print(error)
        return HARNESS
    finally:
        close_idle_workers()


def show(runs: list[Run], seconds: float) -> None:
    """Print, for each implementation, its runs, false alarms and the largest shares of the limits."""
    print(f"{'implementation':<32} {'runs':>7} {'alarms':>6} {'8 sigma':>8} {'rms':>6} {'bias':>6}   closest case")
    for name in dict.fromkeys(r.implementation for r in runs):
        mine = [r for r in runs if r.implementation == name]
        closest = max(mine, key=lambda r: max(r.share, r.rms, r.bias))
        most = (max(getattr(r, part) for r in mine) for part in ("share", "rms", "bias"))
        numbers = " ".join(f"{m:{w}.3f}" for m, w in zip(most, (8, 6, 6), strict=True))
        print(f"{name:<32} {len(mine):>7} {sum(bool(r.line) for r in mine):>6} {numbers}   {closest.id}")
    alarms = sum(bool(r.line) for r in runs)
    print(f"{len(runs)} runs, {alarms} false alarms, {seconds:.0f} s")
