"""The training run: the candidate runs on by itself, and has to stay where honest arithmetic may lead.

After each step its loss is held against the losses of the replicas, and of every parameter how far it has moved from
that of the reference against how far theirs have.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from conformance.calls import Bench
from conformance.envelope import (
    STEPS,
    Envelope,
    batches,
    beginning,
    distance,
    draw_envelope,
    operations,
    parameters_by_step,
)
from conformance.goldens import GoldenError, load_tensors
from conformance.goldens.profiles import RUN
from conformance.goldens.tensors import unpack_expected
from conformance.measure import SIGMAS
from conformance.results import Result, Status
from conformance.verdict import Verdict, judge

from .whole import OPERATION, ended, not_exported

ENVELOPE = "step/envelope"


def judge_envelope(bench: Bench, steps: int = STEPS) -> list[Result]:
    """Judge a run of so many steps: a result for each, up to the first that cannot be judged."""
    if not bench.declared.is_header:
        return [Result(ENVELOPE, OPERATION, Status.TOO_FINE, "its replicas round as the header has it, and no coarser")]
    try:
        envelope = known_envelope(steps)
    except GoldenError as error:
        return [Result(ENVELOPE, OPERATION, Status.MISTRUSTED, str(error))]
    lacking = not_exported(ENVELOPE, bench, operations())
    return [lacking] if lacking else list(_judged(bench, envelope, steps))


def known_envelope(steps: int) -> Envelope:
    """The golden's as far as it reaches; a longer one is drawn anew.  Raises GoldenError."""
    held = load_tensors(RUN.id) if steps <= STEPS else None
    if held is None:
        return draw_envelope(RUN.seed, steps)
    return Envelope(unpack_expected(held), np.zeros(STEPS, np.int64))


def _judged(bench: Bench, envelope: Envelope, steps: int) -> Iterator[Result]:
    state = beginning()
    for place, (tokens, targets) in enumerate(batches(RUN.seed, steps)):
        id = f"{ENVELOPE}/{place + 1:02d}"
        if envelope.near[place]:
            reason = f"{envelope.near[place]} routing choices lie within the noise: honest runs part at this step"
            yield Result(id, OPERATION, Status.MISTRUSTED, reason)
            return
        outcome = bench.worker.call("conformance.envelope.run:step", state, tokens, targets)
        if stopped := ended(id, outcome):
            yield stopped
            return
        state, loss = outcome.value
        moved = distance(state.parameters, parameters_by_step(RUN.seed, steps)[place])
        yield placed(id, envelope, place, loss, moved)


def placed(id: str, envelope: Envelope, place: int, loss: Any, moved: dict[str, float]) -> Result:
    """Place a run after one step, by its loss [1] and the distance of every parameter."""
    got = {"loss": np.asarray(loss)} | {f"distance.{name}": np.array([d], np.float32) for name, d in moved.items()}
    verdicts = tuple(judge(name, envelope.expected[name][place : place + 1], came) for name, came in got.items())
    passed = all(v.passed for v in verdicts)
    reason = "" if passed else _said(verdicts)
    return Result(id, OPERATION, Status.PASS if passed else Status.FAIL, reason, verdicts)


def _said(verdicts: Sequence[Verdict]) -> str:
    """Where a run that left its envelope stands."""
    loss, *distances = verdicts
    furthest = max(distances, key=lambda v: v.share)
    off = f"{loss.share * SIGMAS:.3g} spreads" if math.isfinite(loss.share) else "beyond any spread"
    name = furthest.output.removeprefix("distance.")
    return (
        f"the loss is {loss.got:.9g}, {off} off the replicas' mean of {loss.expected:.9g}; {name} is "
        f"{furthest.share:.3g} times as far from the reference's as honest rounding leads"
    )
