"""Runs many cases on all cores: each process judges its share with a worker of its own."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.util import Finalize

from conformance.candidates.candidate import Candidate, close_idle_workers, worker_of
from conformance.candidates.worker.worker import Worker
from conformance.catalogue.cases import REFUSALS, SEQUENCES, case_of
from conformance.catalogue.prepared import Store
from conformance.ids import is_full, is_probe, is_refusal, is_sequence
from conformance.judging.bench import Bench
from conformance.judging.evidence_selection import EvidenceSelector
from conformance.judging.full import judge_full
from conformance.judging.probes import judge_probe
from conformance.judging.results import Result
from conformance.judging.sequences import judge_sequence
from conformance.limits import HEADER, Contract
from conformance.pool import shared
from conformance.steps import RUN_LENGTH, STEPS, judge_step

CHUNK = 16  # cases handed out at a time: enough to hide the hand-over, few enough to share evenly
_WORTH = 64  # cases for which a second process is worth its start
_WORTH_FULL = 4  # of those at full size


@dataclass(frozen=True)
class Setting:
    """How a candidate is run."""

    candidate: Candidate
    seed: int = 0
    threads: int = 2
    limit_s: float = 20.0
    evidence: bool = False  # whether to gather what pictures are drawn from
    run_length: int = RUN_LENGTH  # steps of the training run
    declared: Contract = HEADER  # what the library declares of its precision
    store: Store | None = None  # of what no candidate changes; each process's memory where there is none

    def worker(self) -> Worker:
        """Return a worker of the candidate, not started yet."""
        return worker_of(self.candidate, self.threads, self.limit_s)

    def bench(self, worker: Worker) -> Bench:
        """Return a bench on a worker of the candidate."""
        return Bench(worker, self.seed, EvidenceSelector() if self.evidence else None, self.declared, self.store)


class _Judge:
    """What a process judges with: a bench on a worker, which ends with the process or the next judge."""

    bench: Bench | None = None
    worker: Worker | None = None
    run_length = RUN_LENGTH


def _begin(setting: Setting) -> None:
    _end()
    _Judge.worker, _Judge.run_length = setting.worker(), setting.run_length
    _Judge.bench = setting.bench(_Judge.worker)
    Finalize(None, _end, exitpriority=0)  # a process of a pool ends without atexit


def _end() -> None:
    if _Judge.worker is not None:
        _Judge.worker.close()
        _Judge.bench = _Judge.worker = None


def _judge(piece: Sequence[str]) -> list[Result]:
    """Judge a step, or some cases."""
    assert _Judge.bench is not None
    if piece[0] in STEPS:
        return judge_step(piece[0], _Judge.bench, _Judge.run_length)
    return [judge_id(id, _Judge.bench) for id in piece]


def judge_id(id: str, bench: Bench) -> Result:
    """Judge one case of any kind."""
    if is_probe(id):
        return judge_probe(id, bench)
    if is_sequence(id):
        return judge_sequence(SEQUENCES[id], bench)
    if is_full(id):
        return judge_full(id, bench)
    if is_refusal(id):
        return bench.case(REFUSALS[id])
    return bench.case(case_of(id))


def judge_all(ids: Sequence[str], steps: Sequence[str], setting: Setting, processes: int) -> Iterator[list[Result]]:
    """Judge cases and steps, and return results as they come: a step's in its order, cases in chunks.

    steps: names of conformance.steps.STEPS.  They come first, since one takes as long as many cases; then calls at full
    size, each by itself, and cases, those that take longest first, so that no process is left alone with a long one at
    the end.
    """
    full = [[id] for id in ids if is_full(id)]
    ids = [id for id in ids if not is_full(id)]
    chunks = [ids[i : i + CHUNK] for i in range(0, len(ids), CHUNK)]
    chunks.sort(key=lambda chunk: -sum(map(_work, chunk)))
    pieces = [*([step] for step in steps), *full, *chunks]
    several = min(processes, len(steps) + math.ceil(len(full) / _WORTH_FULL) + math.ceil(len(ids) / _WORTH))
    if several > 1:
        close_idle_workers()  # of no use to other processes
    return _closing(shared(_judge, pieces, several, _begin, (setting,)))


def _closing(results: Iterator[list[Result]]) -> Iterator[list[Result]]:
    try:
        yield from results
    finally:
        _end()


def _work(id: str) -> float:
    """About how long a case takes beside others: the more elements the longer, most of all along one long axis."""
    if is_sequence(id):
        return 0.0  # last: one that has to begin a process ends that of the calls before
    if is_probe(id) or is_refusal(id):
        return 1e3
    case = case_of(id)
    counts = [value for value in case.sizes.values() if isinstance(value, int) and value > 1]
    return float(math.prod(counts)) * max(counts, default=1)
