"""Training runs: the candidate runs on by itself, and has to stay where honest arithmetic may lead.

After each step its loss is held against the losses of the replicas, and of every parameter how far it has moved from
that of the reference against how far theirs have.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

import reference
from conformance.catalogue.goldens import GoldenError, load_tensors
from conformance.catalogue.goldens.names import training_run
from conformance.catalogue.goldens.tensors import unpack_expected
from conformance.catalogue.prepared import Store
from conformance.catalogue.prepared.codec import Codec
from conformance.judging.bench import Bench
from conformance.judging.results import Result, Status
from conformance.judging.verdict import Verdict, judge
from conformance.limits.envelope import (
    RUN,
    RUNS,
    Envelope,
    Run,
    batches,
    beginning,
    distance,
    draw_envelope,
    standing_by_step,
)
from conformance.limits.envelope.run import step
from conformance.limits.measure import SIGMAS
from reference.step import State
from training.precision.scaling import Scaler
from training.step import Report, Standing

from .whole import OPERATION, ended

_STANDINGS = Codec(Standing, Report, State, Scaler)
_PART, _DISTANCE = "step/envelope", "distance."


def part_of(run: Run) -> str:
    """Return the name that a run's results stand under."""
    return _PART + run.suffix


def judge_run(bench: Bench, run: Run = RUN) -> list[Result]:
    """Judge a run: a result for each step, up to the first that cannot be judged."""
    try:
        envelope = known_envelope(run)
    except GoldenError as error:
        return [Result(part_of(run), OPERATION, Status.MISTRUSTED, str(error))]
    return list(_judged(bench, envelope, run))


def known_envelope(run: Run) -> Envelope:
    """The golden's as far as it reaches; a longer one is drawn anew.  Raises GoldenError."""
    golden = next((g for g in RUNS if replace(g, steps=run.steps) == run and run.steps <= g.steps), None)
    held = load_tensors(training_run(golden)) if golden else None
    if golden is None or held is None:
        return draw_envelope(run)
    return Envelope(unpack_expected(held), np.zeros(golden.steps, np.int64))


def _judged(bench: Bench, envelope: Envelope, run: Run) -> Iterator[Result]:
    standing = beginning(run)
    origins = origins_of(run, bench.store)
    for place, (tokens, targets) in enumerate(batches(run)):
        id = f"{part_of(run)}/{place + 1:02d}"
        if envelope.near[place]:
            reason = f"{envelope.near[place]} routing choices lie within the noise: honest runs part at this step"
            yield Result(id, OPERATION, Status.MISTRUSTED, reason)
            return
        outcome = bench.worker.call(step, run, standing, tokens, targets)
        if stopped := ended(id, outcome):
            yield stopped
            return
        standing, report = outcome.value
        yield compare_run(envelope, run, place, standing, report, origins[place])


def origins_of(run: Run, store: Store) -> list[tuple[Standing, Report]]:
    """Where the reference stands after each step, and what it reports then."""
    return store.recall(f"where {run} leads", lambda: _origins(run), _STANDINGS, large=True)


def _origins(run: Run) -> list[tuple[Standing, Report]]:
    """Where the reference stands after each step, without the moments: 100 MB that no run is held against."""
    return [(s._replace(state=s.state._replace(m={}, v={})), report) for s, report in standing_by_step(run)]


def compare_run(
    envelope: Envelope,
    run: Run,
    place: int,
    standing: Standing,
    report: Report,
    origin: tuple[Standing, Report] | None = None,
) -> Result:
    """Compare a run after one step with its envelope: loss, norm, every parameter's distance, and what it decided.

    origin: where the reference stands then, and what it reports, where that is known already.
    """
    exact, reported = origin or standing_by_step(run)[place]
    moved = distance(standing.state.parameters, exact.state.parameters)
    got = {"loss": np.asarray(report.loss)} | {f"{_DISTANCE}{n}": np.array([d], np.float32) for n, d in moved.items()}
    if not reported.skipped and report.norm is not None:  # else it is no number, or a function did not return it
        got["norm"] = np.asarray(report.norm)
    verdicts = tuple(judge(name, envelope.expected[name][place : place + 1], came) for name, came in got.items())
    reason = _otherwise(exact, reported, standing, report) or _unlike_masters(run, standing)
    if not reason and not all(v.passed for v in verdicts):
        reason = left_by(verdicts)
    id = f"{part_of(run)}/{place + 1:02d}"
    return Result(id, OPERATION, Status.FAIL if reason else Status.PASS, reason, verdicts)


def _otherwise(expected: Standing, reported: Report, standing: Standing, report: Report) -> str:
    """What an update decided otherwise than the reference's; nothing if it did not."""
    if report.skipped and not reported.skipped:
        return "the update was skipped, its gradients being finite"
    if reported.skipped and not report.skipped:
        return "the update was made, some of its gradients not being finite"
    if standing.scaler.scale != expected.scaler.scale:
        return f"the loss is scaled by {standing.scaler.scale:g} from here on, expected {expected.scaler.scale:g}"
    if standing.state.step != expected.state.step:
        return f"{standing.state.step} updates are counted, expected {expected.state.step}"
    return ""


def _unlike_masters(run: Run, standing: Standing) -> str:
    """The first 16-bit copy that is not its parameter, rounded to nearest."""
    for name, due in run.precision.copies(reference, standing.state.parameters).items():
        copy = standing.copies[name]
        if not np.array_equal(copy.astype(np.float32), due.astype(np.float32), equal_nan=True):
            return f"the 16-bit copy of {name} is not the parameter, rounded"
    return ""


def left_by(verdicts: Sequence[Verdict]) -> str:
    """Say where a run that left its envelope stands."""
    by_output = {v.output: v for v in verdicts}
    parts = [f"the {name} is {_off(by_output[name])}" for name in ("loss", "norm") if _is_told(name, by_output)]
    return f"{', '.join(parts)}; {_distance_said(furthest_of(verdicts))}"


def _distance_said(furthest: Verdict) -> str:
    """How far the parameters are from the reference's, by that which uses most of its distance."""
    if furthest.share <= 1:
        return "no parameter is further from the reference's than honest rounding leads"
    name, many = furthest.output.removeprefix(_DISTANCE), furthest.share
    if not math.isfinite(many):
        return f"{name} is further from the reference's than any honest rounding leads"
    return f"{name} is {many:.3g} times as far from the reference's as honest rounding leads"


def _is_told(name: str, by_output: Mapping[str, Verdict]) -> bool:
    return name == "loss" or (name in by_output and not by_output[name].passed)


def _off(verdict: Verdict) -> str:
    off = f"{verdict.share * SIGMAS:.3g} spreads" if math.isfinite(verdict.share) else "beyond any spread"
    return f"{verdict.got:.9g}, {off} off the replicas' mean of {verdict.expected:.9g}"


def furthest_of(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict on the parameter that uses most of its distance."""
    return max((v for v in verdicts if v.output.startswith(_DISTANCE)), key=lambda v: v.share)
