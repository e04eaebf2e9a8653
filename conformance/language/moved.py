"""The reference in float32, whose parameters are moved at random by up to one unit in the last place at every update.

That is less than any two implementations differ by; but after some dozens of steps it has grown to what any rounding
grows to, and where several such runs lead shows where honest ones may.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import reference
from conformance.noise.drawn import Errors
from reference import random

UNIT, MOST = 2.0**-23, 3**0.5  # of Errors


class Moved:
    """A namespace of operations; one seed, one course."""

    def __init__(self, seed: int) -> None:
        self._errors = Errors(random.stream("moved", seed))

    def __getattr__(self, operation: str) -> Any:
        return getattr(reference, operation)

    def multi_adamw(self, *arguments: Any, **named: Any) -> Any:
        """Update, and move the parameters."""
        parameters, *moments = reference.multi_adamw(*arguments, **named)
        return [self._move(array) for array in parameters], *moments

    def _move(self, array: Any) -> Any:
        return (array * (1 + self._errors.take(array.shape) * (UNIT / MOST))).astype(np.float32)
