"""Gradient checkpointing: a step that computes layers again in backward has to give the plain step's bits.

The same operations on the same inputs, a second time: a library that passes every other case fails here where a call
leaves something behind that a later one meets, or changes what it was only to read.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.judging.results import Result
from conformance.judging.verdict import Verdict, judge
from conformance.limits.namespaces import OnNumbers
from reference.model import recompute
from reference.model.config import TINY
from reference.model.parameters import Parameters, initialise
from reference.step import Metrics, State, start, training_step
from training.step import Report

from . import scenarios
from .whole import against_itself

RECOMPUTED = "steps/recomputed"
# Of three layers one alone in the middle; and a segment of two with one of a single layer behind it.
SETTINGS = ("every:2", "boundaries:2")
CONFIG = replace(TINY, layers=3, ffn=64)
TRAINING = replace(scenarios.TRAINING, micro_batches=2)  # so that gradients are added to
Arrays = dict[str, NDArray[Any]]


def run(library: Any, batch: tuple[Any, Any]) -> list[Arrays]:
    """Run one step on a library, in its worker: plain, then with each setting; return what it leaves behind."""
    return [_stepped(library, batch, recompute.read(text)) for text in ("none", *SETTINGS)]


def _stepped(ops: Any, batch: tuple[Any, Any], setting: recompute.Recompute | None) -> Arrays:
    return by_name(*training_step(ops, CONFIG, TRAINING, start(beginning()), *batch, recompute=setting))


def beginning() -> Parameters:
    """What the step starts from, in float32."""
    return initialise(CONFIG, seed=0, dtype=np.float32, deviation=scenarios.DEVIATION)


def by_name(state: State, metrics: Metrics | Report) -> Arrays:
    """Every array that a step leaves behind, by what it is."""
    held = {"first moment of ": state.m, "second moment of ": state.v, "": state.parameters}
    moved = {f"{kind}{name}": array for kind, arrays in held.items() for name, array in arrays.items()}
    return dict(zip(metrics._fields[:4], metrics[:4], strict=True)) | moved


@functools.cache
def operations() -> tuple[str, ...]:
    """The operations that such a step calls."""
    ops = OnNumbers(np.asarray)
    run(ops, scenarios.batch(1))
    return tuple(sorted(ops.used))


def judge_recomputed(runs: list[Arrays]) -> Iterator[Result]:
    """Judge both policies, by what `run` returned: a result for each."""
    plain, *others = runs
    for text, got in zip(SETTINGS, others, strict=True):
        verdicts = tuple(judge(name, wanted, got[name]) for name, wanted in plain.items())
        wrong = [verdict for verdict in verdicts if not verdict.passed]
        reason = _sentence(wrong, len(verdicts)) if wrong else ""
        yield against_itself(f"{RECOMPUTED}/{text}", reason, verdicts)


def _sentence(wrong: list[Verdict], arrays: int) -> str:
    first = wrong[0]
    where = f"{first.output} in {first.wrong} of {first.elements} elements"
    return f"not the plain step's bits: {len(wrong)} of {arrays} arrays that it leaves behind differ, {where}"
