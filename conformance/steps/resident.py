"""Steps whose arrays stay where the library computes: they have to give the bits of steps on host arrays.

The same calls again, on memory that is used over and over, none of them waited for: as they are made, and captured
once and launched.  A library that passes every other case fails here where an operation leaves its stream, waits for
the device, keeps an address or a number from one call to the next, or takes memory in another order than its stream's.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bindings import BindingError, Library
from conformance.judging.results import Result
from conformance.judging.verdict import judge
from conformance.limits.namespaces import OnNumbers
from reference.generate import Strategy
from reference.generate import generate as generate_on_host
from reference.model.config import TINY
from reference.model.parameters import Parameters, initialise
from training.resident import ResidentStep, generate, on_host
from training.step import Step

from . import scenarios
from .recomputed import by_name
from .whole import against_itself

RESIDENT = "steps/resident"
CONFIG, TRAINING = replace(TINY, ffn=64), replace(scenarios.TRAINING, micro_batches=2)
PROMPT, NEW, STRATEGY = np.array([[71, 111, 32], [72, 105, 10]], np.int32), 4, Strategy(name="top_p", temperature=0.8)
Arrays = dict[str, NDArray[Any]]


def run(library: Any) -> tuple[Arrays, dict[str, Arrays | str]]:
    """Run steps and decode on a library, in its worker: on host arrays, then resident; text is what went wrong."""
    placed = Library(library.path, resident=True)
    ways: dict[str, Callable[[], Arrays]] = {
        "called": lambda: _stepped(ResidentStep(placed, CONFIG, TRAINING, captured=False)),
        "captured": lambda: _stepped(ResidentStep(placed, CONFIG, TRAINING)),
        "decoding": lambda: _decoded(generate, placed, {k: placed.array(v) for k, v in beginning().items()}),
    }
    return on_host_arrays(library), {name: _tried(way) for name, way in ways.items()}


def on_host_arrays(ops: Any) -> Arrays:
    """What is expected."""
    return _stepped(Step(ops, CONFIG, TRAINING)) | _decoded(generate_on_host, ops, beginning())


def beginning() -> Parameters:
    """What the steps start from, in float32."""
    return initialise(CONFIG, seed=0, dtype=np.float32, deviation=scenarios.DEVIATION)


def _tried(way: Callable[[], Arrays]) -> Arrays | str:
    try:
        return way()
    except BindingError as error:
        return str(error)


def _stepped(step: Step) -> Arrays:
    """Five updates, the last batches counting fewer targets: called, captured, launched; called, captured anew."""
    standing = step.start(beginning())
    for place, number in enumerate((*scenarios.NUMBERS, 1, 2)):
        tokens, targets = scenarios.batch(number)
        targets[0, : 8 * (place // 3)] = -1
        standing, report = step(standing, tokens, targets)
    if isinstance(step, ResidentStep):
        standing = on_host(standing)
        report = report._replace(**{name: getattr(report, name).to_host() for name in report._fields[:4]})
    return by_name(standing.state, report)


def _decoded(decode: Callable[..., Any], ops: Any, parameters: Parameters) -> Arrays:
    return {"tokens": decode(ops, CONFIG, parameters, PROMPT, NEW, STRATEGY)}


@functools.cache
def operations() -> tuple[str, ...]:
    """The operations that are called."""
    ops = OnNumbers(np.asarray)
    on_host_arrays(ops)
    return tuple(sorted(ops.used))


def judge_resident(expected: Arrays, ways: dict[str, Arrays | str]) -> Iterator[Result]:
    """Judge every way, by what `run` returned: a result for each."""
    for name, got in ways.items():
        if isinstance(got, str):
            yield against_itself(f"{RESIDENT}/{name}", got)
            continue
        verdicts = tuple(judge(what, expected[what], array) for what, array in got.items())
        wrong = next((verdict for verdict in verdicts if not verdict.passed), None)
        reason = f"not the bits of host arrays: {wrong.output}: {wrong.reason}" if wrong else ""
        yield against_itself(f"{RESIDENT}/{name}", reason, verdicts)
