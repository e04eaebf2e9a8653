"""Recognises a number: a small fraction, a size or scalar of the call, a common constant."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from conformance.limits.measure import SIGMAS
from conformance.limits.noise import FLOAT32

_SMALL = 9  # fractions of numbers below this are tried
_POWERS = range(4, 17)  # and these powers of two, and one over them
_CONSTANTS = {"ln 2": math.log(2), "1 / ln 2": 1 / math.log(2), "sqrt 2": 2**0.5, "1 / sqrt 2": 0.5**0.5}
CHANCE = 1e-3  # what would be found by accident more often than this says nothing
_PADDED = (8, 32, 128)  # what kernels round a size up to
_SHOWN = 2  # names that a number is given


@dataclass(frozen=True)
class Number:
    """A number that was recognised, and what it is known by: sizes and scalars of the call, constants."""

    value: float
    digits: str
    names: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """How it is said: 1/2 (1 / n or 1 / k)."""
        return f"{self.digits} ({' or '.join(self.names[:_SHOWN])})" if self.names else self.digits

    def __str__(self) -> str:
        return self.words


def recognise(value: float, error: float, known: Mapping[str, float]) -> Number | None:
    """Return the simplest number that `value` may be, known up to a standard deviation.

    known: sizes and scalars of the call.  None where no number of the list is near enough, or where the value is known
    so poorly that one of the list would be near by chance.
    """
    reach = SIGMAS * max(error, FLOAT32.unit * abs(value))
    if reach * (len(_fractions()) + len(list(_named(known)))) > CHANCE * abs(value):
        return None
    number = next((n for n in _fractions() if abs(value - n) <= reach), None)
    names = [name for n, name in _named(known) if abs(value - n) <= reach]
    if number is None and not names:
        return None
    exact = next(n for n, name in _named(known) if name == names[0]) if number is None else float(number)
    return Number(exact, f"{exact:.6g}" if number is None else str(number), tuple(names))


@functools.cache
def _fractions() -> tuple[Fraction, ...]:
    """Small fractions and powers of two with their negatives, the simplest first."""
    small = {Fraction(p, q) for p in range(_SMALL) for q in range(1, _SMALL)}
    small |= {f for n in _POWERS for f in (Fraction(2**n), Fraction(1, 2**n))}
    ordered = sorted(small, key=lambda f: (f.numerator + f.denominator, f))
    return tuple(sign * f for f in ordered for sign in (1, -1))


def _named(known: Mapping[str, float]) -> Iterator[tuple[float, str]]:
    for name, x in known.items():
        if math.isfinite(x) and abs(x) not in (0.0, 1.0):
            yield x, name
            yield 1 / x, f"1 / {name}"
            yield -x, f"-{name}"
            yield x - 1, f"{name} - 1"
            yield 1 / x - 1, f"1 / {name} - 1"
            yield x * x, f"{name}^2"
            if x > 0:
                yield x**0.5, f"sqrt {name}"
                yield x**-0.5, f"1 / sqrt {name}"
            if x > 1:
                yield (x - 1) / x, f"({name} - 1) / {name}"
                yield x / (x - 1), f"{name} / ({name} - 1)"
                yield ((x - 1) / x) ** 0.5, f"sqrt (({name} - 1) / {name})"
                yield (x / (x - 1)) ** 0.5, f"sqrt ({name} / ({name} - 1))"
            yield from _padded(name, x)
    yield from _in_place_of(known)
    yield from ((number, name) for name, number in _CONSTANTS.items())


def _in_place_of(known: Mapping[str, float]) -> Iterator[tuple[float, str]]:
    """What a product is off by where a size, or its root, stands for a scalar that was to be multiplied by."""
    sizes = {name: x for name, x in known.items() if x > 1 and x % 1 == 0}
    scalars = {name: x for name, x in known.items() if math.isfinite(x) and x % 1 != 0}
    for (name, x), (size, n) in itertools.product(scalars.items(), sizes.items()):
        yield n**-0.5 / x, f"1 / (sqrt {size} * {name})"
        yield 1 / (n * x), f"1 / ({size} * {name})"


def _padded(name: str, x: float) -> Iterator[tuple[float, str]]:
    """A size by what it is rounded up to, and the roots of that."""
    for block in _PADDED:
        if x > 1 and x % 1 == 0 and x % block:
            share, words = x / (-(-x // block) * block), f"({name} rounded up to a multiple of {block})"
            yield share, f"{name} / {words}"
            yield 1 / share, f"{words} / {name}"
            yield share**0.5, f"sqrt ({name} / {words})"
            yield share**-0.5, f"sqrt ({words} / {name})"
