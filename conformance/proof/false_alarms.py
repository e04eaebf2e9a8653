"""Judges correct implementations on cases with fresh seeds: every failure is a false alarm."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import Empty
from typing import Any

import numpy as np

from conformance.catalogue.cases import Case, case_of
from conformance.catalogue.families import products
from conformance.ids import is_full, is_sequence
from conformance.judging import outputs
from conformance.judging.verdict import Verdict
from conformance.limits import HEADER, Contract
from conformance.limits.expectation import Expected, expect
from conformance.limits.measure import MadeOf
from conformance.limits.noise import using
from conformance.operations import OPERATIONS
from conformance.pool import PoolError
from conformance.variants.honest import Call, Implementation, implementations
from reference import random

Unit = tuple[str, int]  # a case and a seed

CHUNK = 16
_LOOKED_AFTER_S = 5.0  # how long nothing may come before the processes are looked at


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


def is_apart(id: str) -> bool:
    """Whether it is of a call at full size, or of calls in a row: judged on libraries, each in a process of its own."""
    return is_full(id) or is_sequence(id)


def shares(
    ids: Sequence[str], seed: int, runs: int, processes: int, known: Mapping[str, Implementation], libraries: int = 0
) -> list[list[Unit]]:
    """Deal so many runs, or a few more, to processes: cases in an order that the seed draws, again with the next seed
    when all had their turn.  A case meets every kind of process in turn.

    libraries: of how many a case that is_apart makes a run each.
    """
    order = sorted(ids, key=lambda id: random.stream("false alarms", seed, id))
    counts = [libraries if is_apart(id) else len(_judged_on(case_of(id), known)) for id in order]
    shares: list[list[Unit]] = [[] for _ in range(processes)]
    for drawn in range(-(-runs // max(1, sum(counts)))):
        for place, (id, count) in enumerate(zip(order, counts, strict=True)):
            if runs <= 0:
                return shares
            shares[(place + drawn) % processes].append((id, seed + drawn))
            runs -= count
    return shares


def _judged_on(case: Case, known: Mapping[str, Implementation]) -> dict[str, Implementation]:
    """What implementations are judged on a case: of designed ones not those that arrange the inputs otherwise."""
    return {
        name: one
        for name, one in known.items()
        if case.operation in one.operations and not (case.spec.by_design and one.is_arranged)
    }


def known_implementations(libraries: list[Path], declared: Contract) -> dict[str, Implementation]:
    flushing = frozenset(operation for operation in OPERATIONS if declared.of(operation).flush_to_zero)
    return implementations(
        libraries,
        declared.rounded_inputs(products()),
        flushing,
        declared.rounded_between(OPERATIONS),
        declared.inexact_functions(OPERATIONS),
    )


def results(shares: list[list[Unit]], libraries: list[Path], declared: Contract) -> Iterator[Run]:
    """Judge what is dealt, a process for each share, and return runs as they come.  Raises PoolError."""
    context = multiprocessing.get_context("spawn")
    queue: Any = context.Queue()
    workers = []
    for place, units in enumerate(shares):
        with _environment(_PLAINEST if place % 2 else {}):
            workers.append(context.Process(target=_work, args=(units, libraries, declared, queue), daemon=True))
            workers[-1].start()
    left = len(workers)
    while left:
        try:
            runs = queue.get(timeout=_LOOKED_AFTER_S)
        except Empty:
            _look_after(workers)
            continue
        left -= runs is None
        yield from runs or ()
    for worker in workers:
        worker.join()
    _look_after(workers)


def _look_after(workers: Sequence[BaseProcess]) -> None:
    """Raise PoolError where a process has failed: what it was to judge has not been judged."""
    for worker in workers:
        if worker.exitcode:
            raise PoolError(f"a process that judged ended with exit status {worker.exitcode}: its runs are not counted")


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
        known = known_implementations(libraries, declared)
        for start in range(0, len(units), CHUNK):
            chunk = units[start : start + CHUNK]
            queue.put([run for id, seed in chunk for run in judge_case(id, seed, known, declared)])
    finally:
        queue.put(None)


def judge_case(id: str, seed: int, known: dict[str, Implementation], declared: Contract = HEADER) -> list[Run]:
    """Judge every implementation on one case: one expectation serves them all."""
    case = case_of(id)
    arguments = case.arguments(seed)
    with using(declared.of(case.operation).arithmetic):
        expected = expect(case.operation, arguments)
        if not declared.is_header and not all(map(outputs.is_known, expected.values())):
            return []  # past the range of a declared format
        return [
            Run(id, seed, name, *summary(_judged(case, arguments, expected, one.of(random.stream(id, seed)))))
            for name, one in _judged_on(case, known).items()
        ]


def _judged(case: Case, arguments: dict[str, Any], expected: Expected, call: Call) -> list[Verdict]:
    got = {n: np.asarray(v) for n, v in call(case.operation, arguments).items()}
    return outputs.judge_outputs(case.operation, arguments, expected, got, case.spec.signed_zeros)


def summary(verdicts: Sequence[Verdict]) -> tuple[str, float, float, float]:
    """Return what a Run keeps of verdicts: what went wrong, and the largest shares of the three limits."""
    line = next((f"{v.output}: {v.reason} (index {v.index})" for v in verdicts if not v.passed), "")
    sigmas = (v.share if v.made_of is MadeOf.SIGMAS else 0.0 for v in verdicts)
    shares = ((s, v.rms / v.rms_limit, abs(v.bias) / v.bias_limit) for s, v in zip(sigmas, verdicts, strict=True))
    share, rms, bias = (max(part) for part in zip((0.0, 0.0, 0.0), *shares, strict=True))
    return line, share, rms, bias
