"""Gradients by central differences.

(f(x + h v) - f(x - h v)) / 2h at h = 1e-13 in forty digits: the truncation is h^2 / 6 of the third derivative, the
rounding 1e-40 / h, so that 26 digits are right and what differs is the reference's.  A direction v of +1 and -1 moves
every entry at once; any wrong entry changes the slope.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import Any

from .numbers import Nested, Number, Vector, flat, shape, tensor

STEP = Decimal("1e-13")
ACCURACY = Decimal("1e-22")  # of a slope: 26 digits, less four for the length of the sums
DIRECTIONS = 2

Arguments = Mapping[str, Any]


@dataclass(frozen=True)
class Slope:
    """The derivative along a direction: its value, the potential's, and the sign of each output entry in it."""

    value: Number
    potential: Number
    signs: Vector

    def error(self, size: Number) -> Number:
        """Return how far it can be off itself; size: what the gradient's entries add up to."""
        return ACCURACY * max(Decimal(1), abs(self.potential), size)


@dataclass(frozen=True)
class Gradient:
    """potential(**arguments, **moved) and, for each output, the array it is the derivative by.

    An array that is no argument of the operation (the logits behind given probabilities) starts at zero.
    """

    potential: Callable[..., Number]
    by: Mapping[str, str]

    def slopes(self, arguments: Arguments, outputs: Mapping[str, Nested]) -> list[Slope]:
        """Return the slopes along some directions."""
        start = {name: arguments.get(name, _zeros(outputs[output])) for output, name in self.by.items()}
        return [self._slope(arguments, start, number) for number in range(DIRECTIONS)]

    def _slope(self, arguments: Arguments, start: Mapping[str, Nested], number: int) -> Slope:
        signs = {name: _signs(f"{name} {number}", array) for name, array in start.items()}

        def moved(step: Number) -> Number:
            return self.potential(**{**arguments, **{n: _moved(start[n], signs[n], step) for n in start}})

        above, below = moved(STEP), moved(-STEP)
        return Slope((above - below) / (2 * STEP), above, [Decimal(s) for sign in signs.values() for s in flat(sign)])


def _zeros(like: Nested) -> Nested:
    return tensor(shape(like), lambda *_: Decimal(0))


def _signs(name: str, like: Nested) -> Nested:
    coin = Random(name)
    return tensor(shape(like), lambda *_: coin.getrandbits(1) * 2 - 1)


def _moved(array: Nested, signs: Nested, step: Number) -> Nested:
    if isinstance(array, list):
        return [_moved(a, s, step) for a, s in zip(array, signs, strict=True)]
    return array + step * signs
