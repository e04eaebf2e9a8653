"""What an oracle has said of an expectation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Confirmation:
    """Which oracle agreed, and how well: the largest difference by the largest magnitude, and by its limit."""

    oracle: str
    difference: float
    share: float

    @property
    def agrees(self) -> bool:
        return self.share <= 1
