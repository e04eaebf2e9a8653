"""Counts false alarms: correct implementations judged on fresh data, where every verdict that is not PASS is wrong.

A run is one case, drawn with one seed, judged for one implementation.  One half of the processes computes with this
machine's widest instructions, the other half with its plainest: other kernels of the BLAS, of NumPy and of the library.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import os
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from conformance import operations
from conformance.catalogue.cases import CASES, Case
from conformance.judging import outputs
from conformance.judging.verdict import Verdict
from conformance.limits import HEADER, Contract, read_contract
from conformance.limits.expectation import Expected, expect
from conformance.limits.noise import using
from conformance.proof.honest_runs import count_runs
from conformance.variants.honest import Implementation, implementations

from .options import add_contract

Unit = tuple[str, int]  # a case and a seed
CHUNK = 16


@dataclass(frozen=True)
class Run:
    """One implementation on one case with one seed; `line` says what went wrong, if anything.

    Of an element's limits only the statistical one is noted: a worst case is meant to be reached.
    """

    id: str
    seed: int
    implementation: str
    line: str
    share: float
    rms: float
    bias: float

    @property
    def command(self) -> str:
        return f"--case '{self.id}' --seed {self.seed}"


def add_parser(subparsers: Any) -> None:
    """Register the command `false-alarms`."""
    parser = subparsers.add_parser("false-alarms", help="judge correct implementations", description=__doc__)
    parser.set_defaults(run=run)
    parser.add_argument("--runs", type=int, default=20000, metavar="N", help="stop after N runs (default: 20000)")
    parser.add_argument("--seed", type=int, help="the first seed (default: a fresh one)")
    parser.add_argument("--case", action="append", default=[], metavar="ID", help="only this case (repeatable)")
    parser.add_argument("--library", action="append", type=Path, default=[], metavar="PATH", help="a correct library")
    add_contract(parser)
    parser.add_argument("-n", type=int, default=2, metavar="N", help="processes (default: 2)")
    whole = "instead: whole training runs on the goldens' texts and N fresh ones, each in an envelope of its own"
    parser.add_argument("--training-runs", type=int, metavar="N", help=whole)


def run(options: argparse.Namespace) -> int:
    """Count, print, and return 1 where there was a false alarm."""
    seed = secrets.randbelow(2**31) if options.seed is None else options.seed
    ids = options.case or list(CASES)
    libraries = [path.resolve() for path in options.library]
    if options.training_runs is not None:
        return count_runs(range(seed, seed + options.training_runs), libraries, options.n)
    declared = read_contract(options.contract)
    names = _known(libraries, declared)
    a_round = sum(CASES[id].operation in one.operations for id in ids for one in names.values())
    rounds = -(-options.runs // a_round)
    print(f"{len(ids)} cases, {rounds} draws from seed {seed}, {len(names)} implementations, {options.n} processes")
    started, runs = time.monotonic(), []
    for result in _results(_shares(ids, seed, rounds, options.n), libraries, declared):
        runs.append(result)
        if result.line:
            print(f"FALSE ALARM {result.implementation}: {result.line}\n    {result.command}", flush=True)
    show(runs, time.monotonic() - started)
    return int(any(r.line for r in runs) or not runs)


def _shares(ids: Sequence[str], seed: int, rounds: int, processes: int) -> list[list[Unit]]:
    """Deal cases to processes so that every case meets every kind of process in turn."""
    shares: list[list[Unit]] = [[] for _ in range(processes)]
    for drawn, (place, id) in itertools.product(range(rounds), enumerate(ids)):
        shares[(place + drawn) % processes].append((id, seed + drawn))
    return shares


def _known(libraries: list[Path], declared: Contract) -> dict[str, Implementation]:
    return implementations(libraries, declared.rounded_inputs(operations.PRODUCTS))


def _results(shares: list[list[Unit]], libraries: list[Path], declared: Contract) -> Iterator[Run]:
    context = multiprocessing.get_context("spawn")
    queue: Any = context.Queue()
    workers = []
    for place, units in enumerate(shares):
        with _environment(_PLAINEST if place % 2 else {}):
            workers.append(context.Process(target=_work, args=(units, libraries, declared, queue), daemon=True))
            workers[-1].start()
    left = len(workers)
    while left:
        runs = queue.get()
        left -= runs is None
        yield from runs or ()
    for worker in workers:
        worker.join()


_PLAINEST = {
    "ASSAYER_SIMD": "baseline",
    "OPENBLAS_CORETYPE": "Nehalem",
    "NPY_DISABLE_CPU_FEATURES": " ".join(np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])),
}


@contextmanager
def _environment(changes: dict[str, str]) -> Iterator[None]:
    """What a process started meanwhile finds in its environment: one thread, and the changes."""
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    before = dict(os.environ)
    os.environ.update(threads | changes)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _work(units: list[Unit], libraries: list[Path], declared: Contract, queue: Any) -> None:
    try:
        known = _known(libraries, declared)
        for start in range(0, len(units), CHUNK):
            chunk = units[start : start + CHUNK]
            queue.put([run for id, seed in chunk for run in judge_case(id, seed, known, declared)])
    finally:
        queue.put(None)


def judge_case(id: str, seed: int, known: dict[str, Implementation], declared: Contract = HEADER) -> list[Run]:
    """Judge every implementation on one case: one expectation serves them all."""
    case = CASES[id]
    arguments = case.arguments(seed)
    with using(declared.of(case.operation).arithmetic):
        expected = expect(case.operation, arguments)
        if not declared.is_header and not all(map(outputs.is_known, expected.values())):
            return []  # past the range of a declared format
        return [
            Run(id, seed, name, *_summary(_judged(case, arguments, expected, one)))
            for name, one in known.items()
            if case.operation in one.operations
        ]


def _judged(case: Case, arguments: dict[str, Any], expected: Expected, one: Implementation) -> list[Verdict]:
    got = {n: np.asarray(v) for n, v in one.call(case.operation, arguments).items()}
    return outputs.judge_outputs(case.operation, arguments, expected, got, case.spec.signed_zeros)


def _summary(verdicts: list[Verdict]) -> tuple[str, float, float, float]:
    line = next((f"{v.output}: {v.reason} (index {v.index})" for v in verdicts if not v.passed), "")
    sigmas = (v.share if v.made_of == "8 sigma" else 0.0 for v in verdicts)
    shares = ((s, v.rms / v.rms_limit, abs(v.bias) / v.bias_limit) for s, v in zip(sigmas, verdicts, strict=True))
    return line, *(max(part) for part in zip(*shares, strict=True))


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
