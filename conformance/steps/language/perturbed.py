"""The reference in float32, whose parameters every update moves at random by one unit in the last place, or not at all.

That is less than two implementations differ by; but after some hundred steps it has grown to what any rounding grows
to, and where several such runs lead shows where honest ones may.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import reference
from reference import random
from reference.namespace import Wrapped


class Perturbed(Wrapped):
    """A namespace of operations; one seed, one course."""

    def __init__(self, seed: int) -> None:
        super().__init__(reference)
        self._seed, self._next = random.stream("moved", seed), 0

    def multi_adamw(self, *arguments: Any, **named: Any) -> Any:
        """Update, and move the parameters."""
        parameters, *moments = reference.multi_adamw(*arguments, **named)
        return [self._move(array) for array in parameters], *moments

    def _move(self, array: Any) -> Any:
        """Each value to one of its neighbours, or not at all; zeros stay."""
        moved = (array.view(np.int32) + self._units(array.shape)).view(np.float32)
        return np.where(np.isfinite(array) & (array != 0), moved, array)

    def _units(self, shape: tuple[int, ...]) -> Any:
        """-1, 0 and 1, nearly as likely as each other: a byte's remainder by 3."""
        size = int(np.prod(shape))
        count = -(-size // 8)
        words = random.words(self._seed, self._next, count).astype("<u8")
        self._next += count
        return (words.view(np.uint8)[:size] % 3).astype(np.int32).reshape(shape) - 1
