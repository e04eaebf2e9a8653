"""The check: replicas tell where honest runs lead; each backend is held against them, and against counting pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from conformance.judging.verdict import Verdict, judge
from conformance.limits.envelope import REPLICAS, spread
from conformance.limits.noise import FLOAT32, Noisy
from conformance.pool import in_order
from training.log import read_log
from training.plot import Curves
from training.records import LOG

from .runs import Ask, pairs_loss, train, write_text

STEPS = 600
# Until the first, roundings grow; there the run of ten steps tells more.  The losses of replicas whose every result is
# moved were the same to six digits at step 100, and 0.008, 0.024, 0.033 and 0.017 apart at 160, 220, 260 and 320.
FIRST, LAST = 260, 320


@dataclass(frozen=True)
class BackendResult:
    """What was found of one backend: its curves, its place among the replicas, and what it wrote in the end."""

    backend: str
    curves: Curves
    verdict: Verdict
    sample: str

    @property
    def loss(self) -> float:
        """The loss of validation behind the last step."""
        return float(self.curves.validation[-1])


@dataclass(frozen=True)
class Comparison:
    """What the check comes to. stated: the loss to get below, which counting pairs of bytes reaches."""

    places: NDArray[np.int64]
    expected: Noisy
    stated: float
    checked: Sequence[BackendResult]

    def wrong(self, checked: BackendResult) -> str:
        """Say what is wrong with a backend; nothing, where it is on its course and has learned."""
        if not checked.verdict.passed:
            return "its course is none that honest runs take"
        return "" if checked.loss < self.stated else "it has learned no more than pairs"


def check(
    backends: Sequence[str], folder: Path, *, processes: int, steps: int = STEPS, replicas: int = REPLICAS
) -> Comparison:
    """Train on each backend, and the replicas; everything is left in the folder.

    Raises ValueError for too few of them, and what a run raises.
    """
    if steps < LAST or replicas < 2:
        least = f"at least {LAST} steps and 2 replicas"
        raise ValueError(f"language: expected {least}, got {steps} and {replicas}")
    write_text(folder)
    asked = [Ask(folder, backend, steps, steps) for backend in backends]
    beside = [Ask(folder, number, min(LAST, steps), steps) for number in range(replicas)]
    found = in_order(train, [*asked, *beside], processes)
    runs, others = found[: len(asked)], found[len(asked) :]
    expected = _expected(others)
    checked = [
        BackendResult(str(ask.backend), run, judge("loss", expected, _course(run).astype(np.float32)), _sample(ask))
        for ask, run in zip(asked, runs, strict=True)
    ]
    places = others[0].validated
    return Comparison(places[(places >= FIRST) & (places <= LAST)], expected, pairs_loss(asked[0]), checked)


def _expected(replicas: Sequence[Curves]) -> Noisy:
    """Where honest runs lead.  A loss is a number of float32: few replicas may agree in one, and be a rounding off."""
    found = spread([_course(run) for run in replicas])
    variance = found.variance + FLOAT32.variance(found.v)
    return Noisy(found.v, variance, variance, None)


def _course(run: Curves) -> NDArray[np.float64]:
    """The part of a run that is compared."""
    return run.validation[(run.validated >= FIRST) & (run.validated <= LAST)]


def _sample(ask: Ask) -> str:
    [*_, last] = (record["text"] for record in read_log(ask.output / LOG) if record["kind"] == "sample")
    return str(last)
