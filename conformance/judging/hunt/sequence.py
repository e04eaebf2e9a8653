"""Calls in a row, drawn at random: sizes that alternate, other numbers in the same arrays, calls that are refused."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from conformance.catalogue.cases import CallSequence, Refusal
from conformance.catalogue.cases.refusals import refusals
from conformance.catalogue.cases.sequences import SequencedCall

from .draw import Call, Draw

_LENGTHS = (2, 3, 4, 5)
_REFUSED = 0.25  # of the calls


@dataclass(frozen=True)
class Step:
    """One call of a sequence.

    run      in whose buffers its arrays lie: those of 1 end at guard zones, those of 2 begin behind them
    refusal  the name of the refusal that is made in its place, or nothing
    """

    call: Call
    run: int = 1
    refusal: str = ""

    @property
    def described(self) -> str:
        """What it is, for a person."""
        refused = f", to be refused: {self.refusal}" if self.refusal else ""
        return f"{self.call.described}, seed={self.call.seed}{' elsewhere' if self.run != 1 else ''}{refused}"


Steps: TypeAlias = tuple[Step, ...]


def draw_steps(draw: Draw) -> Steps:
    """Draw a sequence: two calls by turns, each with the numbers of two seeds; the last is a good call."""
    pair = [draw.any(), draw.any()]
    steps: list[Step] = []
    for _ in range(draw.one_of(_LENGTHS)):
        call = draw.one_of(pair)
        seeded = replace(call, seed=call.seed + draw.one_of((0, 1)))
        names = [*refusals_of(call)] if draw.chance() < _REFUSED else []
        steps.append(Step(seeded, draw.one_of((1, 2)), draw.one_of(names) if names else ""))
    if steps[-1].refusal:
        steps.append(replace(steps[-1], refusal=""))
    return tuple(steps)


def refusals_of(call: Call) -> dict[str, Refusal]:
    """Return the ways to call like this that are to be refused, by name; what arrays hold no device looks at."""
    return {refusal.name: refusal for refusal in refusals([call.case]) if not refusal.entries}


def sequence_of(steps: Steps) -> CallSequence:
    """Return the sequence as the judge of sequences takes it; its first call is the first of a process."""
    calls = [SequencedCall(step.call.case, run=step.run, refusal=_refusal(step)) for step in steps]
    return CallSequence(steps[0].call.operation, "hunt", "drawn at random", tuple(calls), is_fresh=True)


def _refusal(step: Step) -> Refusal | None:
    return refusals_of(step.call)[step.refusal] if step.refusal else None
