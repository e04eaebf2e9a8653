"""A cause: one mistake with every failure that it explains, and what can be said of them together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance import ids, operations
from conformance.catalogue.cases import case_named
from conformance.catalogue.cases.data import DATA

from .joint import Joint
from .results import Result

if TYPE_CHECKING:
    from reference.readings import Reading

FLOAT32 = "float32"
_DATA = tuple(DATA)  # the plainest first


@dataclass(frozen=True)
class Cause:
    """One mistake, as far as the failures tell.

    sentence   what the mistake is, in one line
    reading    the wrong reading that it matches, with its `name` and its own `why`; None where none does
    operation  where it begins: an operation by its float32 name, or "training_step" where no single call is wrong
    results    every failure that it explains, in the order of the run
    joint      what the sentence is made of; None where it is one result's own
    """

    sentence: str
    reading: Reading | None
    operation: str
    results: tuple[Result, ...]
    joint: Joint | None = None

    @property
    def count(self) -> int:
        """How many failures it explains."""
        return len(self.results)

    @property
    def own(self) -> tuple[Result, ...]:
        """The failures on inputs of their own; where there is none, all."""
        return tuple(filter(is_own, self.results)) or self.results

    @property
    def operations(self) -> tuple[str, ...]:
        """The operations that are wrong themselves, 16-bit forms under the name of the float32 one."""
        return tuple(dict.fromkeys(base_of(result) for result in self.own))

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats that are hit: float32, bf16, fp16."""
        hit = {format_of(result) for result in self.own}
        return tuple(name for name in (FLOAT32, "bf16", "fp16") if name in hit)

    @property
    def steps(self) -> tuple[str, ...]:
        """The training steps and runs that are hit, by the names that their results stand under."""
        return tuple(dict.fromkeys(result.part for result in self.results if result.is_of_step))

    @property
    def plainest(self) -> Result:
        """The failure to show first: one that shows this cause, of the plainest data and the smallest size."""
        return min(self.own, key=lambda result: (not self._shows(result), *_plainness(result)))

    def _shows(self, result: Result) -> bool:
        if self.joint is None:
            return result.headline == self.sentence
        return result.diagnosis is not None and self.joint.is_shown_by(result.diagnosis)


def format_of(result: Result) -> str:
    """Return the format that a result is of: of its operation, or of its training step."""
    if is_whole(result):
        return ids.format_of_step(result.part) or FLOAT32
    return result.operation.rpartition("_")[2] if operations.is_sixteen_bit(result.operation) else FLOAT32


def base_of(result: Result) -> str:
    """Return its operation, a 16-bit form under the name of the float32 one."""
    return operations.base_of(result.operation) if result.operation in operations.OPERATIONS else result.operation


def is_own(result: Result) -> bool:
    """Say whether it was judged on inputs of its own, so that what is wrong began there."""
    return not result.is_of_step or ids.is_locked(result.part)


def is_between_calls(result: Result) -> bool:
    """Say whether it is what several calls in a row have shown, and none of them alone."""
    return result.is_sequence and result.diagnosis is not None


def is_whole(result: Result) -> bool:
    """Say whether it is of a whole step or run, not of one call."""
    return result.operation not in operations.OPERATIONS


def readings_of(result: Result) -> tuple[str, ...]:
    """Return the names of the readings that it matches."""
    return result.diagnosis.readings if result.diagnosis else ()


def plainest_of(failed: Sequence[Result]) -> Result:
    """Return the failure to show first."""
    return min(failed, key=_plainness)


def _plainness(result: Result) -> tuple[bool, bool, int, float]:
    """Cases before calls of steps, float32 before 16 bits, plain data before special, small before large."""
    case = case_named(result.id)
    if case is None:
        return True, format_of(result) != FLOAT32, 0, 0.0
    size = math.prod(value for value in case.sizes.values() if isinstance(value, int) and value > 0)
    return False, format_of(result) != FLOAT32, _DATA.index(case.data), size
