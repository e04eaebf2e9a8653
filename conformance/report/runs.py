"""Where a training run stands after each step: read off the verdicts on it, so that a report of it can be read back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from conformance.ids import place_of
from conformance.judging.results import Result
from conformance.limits.measure import SIGMAS
from conformance.steps import ENVELOPES
from conformance.steps.runs import furthest_of

_FLOAT32 = next(iter(ENVELOPES))


@dataclass(frozen=True)
class RunStep:
    """A run after one step; without numbers where the library did not come so far."""

    step: int
    result: Result
    loss: float = math.nan
    mean: float = math.nan  # of the replicas' losses
    off: float = math.nan  # how many of their spreads the loss is above it
    furthest: str = ""  # the parameter that uses most of its limit
    share: float = math.nan

    @property
    def has_numbers(self) -> bool:
        return bool(self.furthest)


def runs(results: Sequence[Result]) -> dict[str, list[RunStep]]:
    """Return the steps of every run that was made, by what its results stand under."""
    found = {part: run_steps(results, part) for part in ENVELOPES}
    return {part: measured for part, measured in found.items() if measured}


def run_steps(results: Iterable[Result], part: str = _FLOAT32) -> list[RunStep]:
    """Return a run's steps in order; none where it was not made."""
    of_run = sorted((r for r in results if r.part == part), key=lambda r: r.id)
    return [_run_step(number, r) for number, r in enumerate(of_run, 1)]


def name_of(part: str) -> str:
    """Return what a run is called."""
    return f"training run{part.removeprefix(_FLOAT32).replace('-', ' in ')}"


def _run_step(number: int, result: Result) -> RunStep:
    step = int(place_of(result.id) or number)
    if not result.verdicts:
        return RunStep(step, result)
    loss, furthest = result.verdicts[0], furthest_of(result.verdicts)
    name = furthest.output.removeprefix("distance.")
    off = (loss.got - loss.expected) / loss.limit * SIGMAS
    return RunStep(step, result, loss.got, loss.expected, off, name, furthest.share)


def sentence(run: Sequence[RunStep]) -> str:
    """Say in a sentence where a run stands."""
    measured = [p for p in run if p.has_numbers]
    if not measured:
        return run[0].result.reason
    left = next((p for p in run if not p.result.is_fine), None)
    if left:
        return f"leaves the envelope at step {left.step}: {left.result.reason}"
    furthest = max(measured, key=lambda p: p.share)
    return (
        f"{len(run)} steps within the envelope: the loss is at most {max(abs(p.off) for p in measured):.2g} of "
        f"{SIGMAS:.0f} spreads off the replicas' mean, {furthest.furthest} uses {furthest.share:.0%} of its distance"
    )
