"""Hunts for one planted fault, without being told anything of it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from conformance.judging.bench import Bench
from conformance.judging.hunt.hunt import Found, Hunt

from .conditions import hold
from .plant import Fault, PlantedWorker, Plants


class End(StrEnum):
    """How a hunt can end."""

    FOUND = "found"
    MISSED = "missed"  # nothing was found in the time
    OTHER = "other"  # nothing was found but what nobody has planted
    NONE = "none"  # nothing could be planted: it does not count


@dataclass(frozen=True)
class Trial:
    """A fault of an operation, in words, and what came of the hunt for it.

    kind: of what the conditions speak.  found_by: the id of the held-out case.  calls: how many were made until one
    failed.  seconds: with what it took to shrink it.  smallest_call: the smallest call that shows it.  other: one that
    fails and does not meet the fault's conditions: then the library, the reference or the judge is at fault.
    """

    operation: str
    end: End
    fault: str = ""
    kind: str = ""
    slip: str = ""
    found_by: str = ""
    seconds: float = 0.0
    calls: int = 0
    smallest_call: str = ""
    other: str = ""

    @property
    def counts(self) -> bool:
        """Whether there was something to find."""
        return self.end is not End.NONE


@dataclass(frozen=True)
class Hunter:
    """Plants one fault in an operation and hunts for it.

    library: a right one.  seed: of what is planted, and of the hunt.  seconds: how long a hunt may take.  calls: how
    many it may draw; any number where that is None.
    """

    library: Path
    seed: int
    seconds: float
    calls: int | None = None

    def trial(self, operation: str) -> Trial:
        """Plant, hunt, and tell what came of it."""
        fault = Plants(self.library, self.seed).plant(operation)
        if fault is None:
            return Trial(operation, End.NONE)
        started = time.monotonic()
        found, other = None, ""
        with PlantedWorker(self.library, fault=fault) as worker:
            hunt = Hunt(Bench(worker), [operation], self.seed)
            for each in hunt.run(self.seconds, self.calls):
                if _is_of(fault, each):
                    found = each
                    break
                other = each.call.described
        seconds = round(time.monotonic() - started, 1)
        words = (fault.described, fault.kind, fault.slip, fault.found_by, seconds)
        if found is None:
            return Trial(operation, End.OTHER if other else End.MISSED, *words, hunt.made, other=other)
        return Trial(operation, End.FOUND, *words, found.number, found.call.described, other)


def _is_of(fault: Fault, found: Found) -> bool:
    """Whether one of the calls that were found meets the fault's conditions."""
    calls = [step.call for step in (*found.drawn, *found.steps)]
    return any(hold(fault.conditions, fault.operation, call.case.arguments(call.seed)) for call in calls)
