"""Several updates by a function, each from where it left the one before: a run in the envelope (steps/runs.py)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from conformance.candidates.module.step import call_step
from conformance.catalogue.goldens import GoldenError
from conformance.catalogue.prepared import Store
from conformance.judging.results import Result, Status
from conformance.limits.envelope import Run, batches, beginning
from conformance.steps.runs import compare_run, known_envelope, origins_of, part_of
from conformance.steps.whole import OPERATION, ended
from reference.model.parameters import held_shapes
from reference.step import State
from training.step import Report, Standing

from .expected import given
from .judge import Asked

# Without which no step can follow another, or be held against the replicas: its tensors' names begin so.
NEEDED = {"loss": "loss", "parameters": "parameter", "m": "m", "v": "v"}


def lacking(result: Result) -> list[str]:
    """What of NEEDED an update did not return."""
    came = {verdict.output.partition(".")[0] for verdict in result.verdicts}
    return [name for name, tensor in NEEDED.items() if tensor not in came]


def judge_run(ask: Asked, run: Run, store: Store) -> Iterator[Result]:
    """Have the step make a run's updates; yield a result for each, up to the first that cannot be judged."""
    try:
        envelope = known_envelope(run)
    except GoldenError as error:
        yield Result(part_of(run), OPERATION, Status.MISTRUSTED, str(error))
        return
    standing, origins = beginning(run), origins_of(run, store)
    for place, (tokens, targets) in enumerate(batches(run)):
        id = f"{part_of(run)}/{place + 1:02d}"
        if envelope.near[place]:
            reason = f"{envelope.near[place]} routing choices lie within the noise: honest runs part at this step"
            yield Result(id, OPERATION, Status.MISTRUSTED, reason)
            return
        outcome = ask(call_step, given(run.config, run.training, standing.state, tokens, targets))
        if stopped := ended(id, outcome) or _without_numbers(id, outcome.value["results"], run):
            yield stopped
            return
        standing, report = _after(standing, outcome.value["results"], run)
        yield compare_run(envelope, run, place, standing, report, origins[place])


def _without_numbers(id: str, came: Mapping[str, Any], run: Run) -> Result | None:
    """What to say of a step from which no other can follow."""
    held = held_shapes(run.config).items()
    shapes = {f"{kind}.{name}": shape for kind in ("parameter", "m", "v") for name, shape in held}
    for name, shape in {"loss": (1,), **shapes}.items():
        array = came.get(name)
        if array is None:
            return Result(id, OPERATION, Status.FAIL, f"{name}: none was returned")
        if array.shape != shape or array.dtype != np.float32:
            reason = f"{name}: {array.dtype} of shape {array.shape}, expected float32 of shape {shape}"
            return Result(id, OPERATION, Status.FAIL, reason)
    return None


def _after(standing: Standing, came: Mapping[str, Any], run: Run) -> tuple[Standing, Report]:
    """Where the update left training, and what it reported; NaN stands for what it did not."""
    names = held_shapes(run.config)
    parameters, m, v = ({name: came[f"{kind}.{name}"] for name in names} for kind in ("parameter", "m", "v"))
    state = State(parameters, m, v, standing.state.step + 1)
    nothing = np.full(1, np.nan, np.float32)
    cross_entropy, aux_loss = (came.get(name, nothing) for name in ("cross_entropy", "aux_loss"))
    report = Report(came["loss"], cross_entropy, aux_loss, came.get("norm"), 0.0, 1.0, skipped=False, loads=[])
    return standing._replace(state=state), report
