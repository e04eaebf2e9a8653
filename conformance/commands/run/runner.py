"""Runs many cases on all cores: each process judges its share with a worker of its own."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass

from conformance.candidates.candidate import Candidate
from conformance.candidates.worker import Worker
from conformance.catalogue.cases import CASES, REFUSALS
from conformance.judging.bench import Bench
from conformance.judging.gallery import Gallery
from conformance.judging.probes import PREFIX, judge_probe
from conformance.judging.results import Result
from conformance.limits import HEADER, Contract
from conformance.steps import RUN_LENGTH, judge_step

CHUNK = 24  # cases handed out at a time: enough to hide the hand-over, few enough to share evenly


@dataclass(frozen=True)
class Setting:
    """How a candidate is run."""

    candidate: Candidate
    seed: int = 0
    threads: int = 1
    limit_s: float = 20.0
    evidence: bool = False  # whether to gather what pictures are drawn from
    run_length: int = RUN_LENGTH  # steps of the training run
    declared: Contract = HEADER  # what the library declares of its precision

    def worker(self) -> Worker:
        """Return a worker of the candidate, not started yet."""
        return Worker(self.candidate.path.resolve(), self.threads, self.limit_s, self.candidate.environment)


_bench: Bench | None = None


def _start(setting: Setting) -> None:
    global _bench
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the judge ends its processes
    _bench = Bench(setting.worker(), setting.seed, Gallery() if setting.evidence else None, setting.declared)


def _judge(ids: Sequence[str]) -> list[Result]:
    assert _bench is not None
    return [_judged(id, _bench) for id in ids]


def _judged(id: str, bench: Bench) -> Result:
    if id.startswith(PREFIX):
        return judge_probe(id, bench)
    return bench.case(REFUSALS[id] if id in REFUSALS else CASES[id])


def _judge_step(name: str, run_length: int) -> list[Result]:
    assert _bench is not None
    return judge_step(name, _bench, run_length)


def judge_all(ids: Sequence[str], steps: Sequence[str], setting: Setting, processes: int) -> Iterator[list[Result]]:
    """Judge cases and steps, and yield results as they come: a step's in its order, cases in chunks.

    steps: names of conformance.steps.STEPS.  Steps come first, since one takes as long as many cases.
    """
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # one thread for each judge: there are as many judges as cores
    chunks = [ids[i : i + CHUNK] for i in range(0, len(ids), CHUNK)]
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(min(processes, len(chunks) + len(steps)), context, _start, (setting,))
    try:
        waiting: set[Future[list[Result]]] = {executor.submit(_judge_step, name, setting.run_length) for name in steps}
        waiting |= {executor.submit(_judge, chunk) for chunk in chunks}
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
