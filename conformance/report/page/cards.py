"""A card for each mistake: what it is and why it is made, how far it reaches, its plainest failure, and all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from conformance.judging.results import Result
from conformance.report.findings import Finding, findings

from .model import Block, Candidate, block

ELEMENTS = 64  # from so many on a picture shows where the errors lie


@dataclass(frozen=True)
class Card:
    """One mistake, by the failures of the first candidate that has it."""

    place: int
    finding: Finding
    plainest: Block
    pictured: Block | None  # a failure with better pictures than the plainest has
    cases: Sequence[Result]  # on inputs of their own
    later: Sequence[Result]  # of training steps

    @property
    def anchor(self) -> str:
        """Its place on the page."""
        return f"mistake-{self.place}"

    @property
    def blocks(self) -> Sequence[Block]:
        """What it shows."""
        return [self.plainest, *([self.pictured] if self.pictured else [])]


def cards(shown: Sequence[Candidate]) -> list[Card]:
    """Return a card for each mistake, most failures first."""
    numbers = {id(candidate.run): candidate.number for candidate in shown}
    found = enumerate(findings([candidate.run for candidate in shown]), 1)
    return [_card(place, finding, numbers[id(finding.run)]) for place, finding in found]


def _card(place: int, finding: Finding, number: int) -> Card:
    cause = finding.cause
    plainest = block(cause.plainest, finding.run, number)
    drawn = [made for r in cause.own if r.evidence and (made := block(r, finding.run, number)).map]
    best = min(drawn, key=_picture, default=plainest)
    return Card(
        place,
        finding,
        plainest,
        best if _picture(best) < _picture(plainest) else None,
        [result for result in cause.results if not result.is_of_step],
        [result for result in cause.results if result.is_of_step],
    )


def _picture(shown: Block) -> tuple[bool, int]:
    """How little its pictures show: one of few elements little, the more of them the better; then the fewest."""
    size = math.prod(shown.result.evidence.shape) if shown.map and shown.result.evidence else 0
    return size < ELEMENTS, size if size >= ELEMENTS else -size
