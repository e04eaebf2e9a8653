"""Whole training runs of correct implementations, each placed in the envelope of its text."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import Any

from conformance import contract
from conformance.envelope import STEPS, Envelope, batches, beginning, distance, draw_envelope, parameters_by_step
from conformance.envelope.run import follow
from conformance.goldens.profiles import RUN
from conformance.report.placement import placements, said
from conformance.results import Result
from conformance.steps import ENVELOPE
from conformance.steps.envelope import known_envelope, placed

from . import Implementation, implementations


class Carrying:
    """An implementation as a namespace of operations; what it lacks is another's."""

    def __init__(self, one: Implementation, otherwise: Implementation) -> None:
        self._one, self._otherwise = one, otherwise

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        function = contract.OPERATIONS[operation]
        one = self._one if operation in self._one.operations else self._otherwise

        def call(*args: Any, **named: Any) -> Any:
            arguments = dict(zip(contract.signature(function).names, args, strict=False)) | named
            given = {name: value for name, value in arguments.items() if value is not None}
            outputs = one.call(operation, arguments | contract.typed(function, given))
            values = tuple(contract.gathered(function, outputs).values())
            return values[0] if len(values) == 1 else values

        return call


def run_of(ops: Any, envelope: Envelope, seed: int) -> Iterator[Result]:
    """Run on a namespace of operations in float32, and place it after every step."""
    exact = parameters_by_step(seed, STEPS)
    for place, (state, loss) in enumerate(follow(ops, beginning(), batches(seed))):
        yield placed(f"{ENVELOPE}/{place + 1:02d}", envelope, place, loss, distance(state.parameters, exact[place]))


def _run(name: str, seed: int, envelope: Envelope, libraries: Sequence[Path]) -> list[Result]:
    known = implementations(libraries)
    return list(run_of(Carrying(known[name], known["float32"]), envelope, seed))


def count_runs(seeds: Sequence[int], libraries: Sequence[Path], processes: int) -> int:
    """Place a run of every implementation on every text, print where each stands, and return 1 where one has left."""
    names = list(implementations(libraries))
    alarms = 0
    for seed in seeds:
        envelope = known_envelope(STEPS) if seed == RUN.seed else draw_envelope(seed, STEPS, processes=processes)
        if envelope.near.any():
            print(f"text {seed}: {envelope.near.sum()} routing choices lie within the noise: not judged", flush=True)
            continue
        with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as executor:
            for name, results in zip(
                names, executor.map(_run, names, repeat(seed), repeat(envelope), repeat(libraries)), strict=True
            ):
                alarms += any(not result.is_fine for result in results)
                print(f"text {seed}, {name}: {said(placements(results))}", flush=True)
    print(f"{len(seeds) * len(names)} runs, {alarms} false alarms")
    return int(alarms > 0)
