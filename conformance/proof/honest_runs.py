"""Whole training runs of correct implementations, each placed in the envelope of its text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from conformance import operations
from conformance.judging.results import Result
from conformance.limits.envelope import RUNS, Envelope, Run, beginning, draw_envelope, follow
from conformance.pool import in_order
from conformance.report.runs import run_steps, sentence
from conformance.steps.runs import compare_run, known_envelope, part_of
from conformance.variants.honest import Implementation, implementations
from reference.namespace import Namespace


class ByImplementation(Namespace):
    """An implementation as a namespace of operations; what it lacks is another's."""

    def __init__(self, one: Implementation, otherwise: Implementation) -> None:
        self._one, self._otherwise = one, otherwise

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        function = operations.OPERATIONS[operation]
        one = self._one if operation in self._one.operations else self._otherwise
        arguments = operations.signature(function).named(args, named)
        given = {name: value for name, value in arguments.items() if value is not None}
        outputs = one.call(operation, arguments | operations.typed(function, given))
        values = tuple(operations.gathered(function, outputs).values())
        return values[0] if len(values) == 1 else values


def run_of(ops: Any, envelope: Envelope, run: Run) -> Iterator[Result]:
    """Run on a namespace of operations, and place it after every step."""
    for place, after in enumerate(follow(ops, run, beginning(run))):
        yield compare_run(envelope, run, place, *after)


def _run(name: str, run: Run, envelope: Envelope, libraries: Sequence[Path]) -> list[Result]:
    known = implementations(libraries)
    return list(run_of(ByImplementation(known[name], known["float32"]), envelope, run))


def count_runs(seeds: Sequence[int], libraries: Sequence[Path], processes: int) -> int:
    """Place runs of every implementation on the goldens' texts and on one for each seed, print where each stands, and
    return 1 where one has left its envelope."""
    names = list(implementations(libraries))
    alarms = 0
    judged = [*RUNS, *(replace(run, seed=seed) for seed in seeds for run in RUNS)]
    for run in judged:
        text = f"{run.precision.format}, text {run.seed}"
        envelope = known_envelope(run) if run in RUNS else draw_envelope(run, processes=processes)
        if envelope.near.any():
            print(f"{text}: {envelope.near.sum()} routing choices lie within the noise: not judged", flush=True)
            continue
        found = in_order(partial(_run, run=run, envelope=envelope, libraries=libraries), names, processes)
        for name, results in zip(names, found, strict=True):
            alarms += any(not result.is_fine for result in results)
            print(f"{text}, {name}: {sentence(run_steps(results, part_of(run)))}", flush=True)
    print(f"{len(judged) * len(names)} runs, {alarms} false alarms")
    return int(alarms > 0)
