"""Where a training run stands after each step: read off the verdicts on it, so that a report of it can be read back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from conformance.measure import SIGMAS
from conformance.results import Result
from conformance.steps import ENVELOPE


@dataclass(frozen=True)
class Placement:
    """A run after one step; without numbers where the library did not come so far."""

    step: int
    result: Result
    loss: float = math.nan
    mean: float = math.nan  # of the replicas' losses
    off: float = math.nan  # how many of their spreads the loss is above it
    furthest: str = ""  # the parameter that uses most of its limit
    share: float = math.nan

    @property
    def is_placed(self) -> bool:
        return bool(self.furthest)


def placements(results: Iterable[Result]) -> list[Placement]:
    """Return the run's steps in order; none where no run was made."""
    return [_placed(number, r) for number, r in enumerate(_of_run(results), 1)]


def _of_run(results: Iterable[Result]) -> list[Result]:
    return sorted((r for r in results if r.part == ENVELOPE), key=lambda r: r.id)


def _placed(number: int, result: Result) -> Placement:
    step = int(result.id.removeprefix(f"{ENVELOPE}/")) if "/" in result.id.removeprefix(ENVELOPE) else number
    if not result.verdicts:
        return Placement(step, result)
    loss, *distances = result.verdicts
    furthest = max(distances, key=lambda v: v.share)
    name = furthest.output.removeprefix("distance.")
    off = (loss.got - loss.expected) / loss.limit * SIGMAS
    return Placement(step, result, loss.got, loss.expected, off, name, furthest.share)


def said(run: Sequence[Placement]) -> str:
    """Say in a sentence where a run stands."""
    placed = [p for p in run if p.is_placed]
    if not placed:
        return run[0].result.reason
    left = next((p for p in run if not p.result.is_fine), None)
    if left:
        return f"leaves the envelope at step {left.step}: {left.result.reason}"
    furthest = max(placed, key=lambda p: p.share)
    return (
        f"{len(run)} steps within the envelope: the loss is at most {max(abs(p.off) for p in placed):.2g} of "
        f"{SIGMAS:.0f} spreads off the replicas' mean, {furthest.furthest} uses {furthest.share:.0%} of its distance"
    )
