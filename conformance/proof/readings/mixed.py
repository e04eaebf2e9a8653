"""Tries the wrong readings of mixed precision: each makes the training runs that are judged in 16 bits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from conformance.judging.results import Result
from conformance.limits.envelope import RUNS, Envelope, Run, batches, beginning
from conformance.limits.namespaces import OnStored
from conformance.steps.runs import compare_run, known_envelope, part_of
from reference.readings import Reading
from training.readings.mixed import READINGS

from .trial import Attempt, margin

RUNS_IN_16_BITS = {part_of(run): run for run in RUNS if run.precision.is_mixed}


def try_mixed(part: str, readings: Sequence[Reading] = READINGS) -> list[Attempt]:
    """Try readings in one run."""
    run = RUNS_IN_16_BITS[part]
    envelope = known_envelope(run)
    attempts = []
    for reading in readings:
        results = list(run_of(reading, run, envelope))
        passed = all(result.is_fine for result in results)
        most = max(margin(verdict) for result in results for verdict in result.verdicts)
        # What was decided otherwise is no matter of limits.
        attempts.append(Attempt(reading.id, part, passed, most if passed or most > 1 else math.inf))
    return attempts


def run_of(reading: Reading, run: Run, envelope: Envelope) -> Iterator[Result]:
    """Make a run of a reading, and place it after every step."""
    step = reading.function(OnStored(np.float64), run.config, run.training, precision=run.precision)
    standing = step.start(beginning(run).state.parameters)
    for place, batch in enumerate(batches(run)):
        standing, report = step(standing, *batch)
        yield compare_run(envelope, run, place, standing, report)
