"""What a training step asks of the processes it is shared with, and the answer of one that is alone."""

from __future__ import annotations

from typing import Protocol

from reference.model.parameters import Ops
from reference.step import Accumulated


class Ranks(Protocol):
    """Processes that hold the same parameters and learn from different batches; every one of them makes each call."""

    rank: int
    size: int

    def total(self, number: int) -> int:
        """The sum of every rank's number."""

    def gathered(self, ops: Ops, part: Accumulated) -> Accumulated:
        """The sum of every rank's part, the same bits on each."""


class Alone:
    """One process."""

    rank, size = 0, 1

    def total(self, number: int) -> int:
        return number

    def gathered(self, ops: Ops, part: Accumulated) -> Accumulated:
        return part


ALONE = Alone()
