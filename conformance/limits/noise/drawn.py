"""Stochastic rounding: numbers that err at random as much as an honest implementation does.

The result of every elementary operation is moved by an error drawn at random, of the standard deviation that the noise
number derives for its roundings, and is exact from there on.  So a computation on them is one of those that an honest
float32 could have come to.  The noise number tells the spread of all of these to first order; many drawn ones show it
to every order, with all that errors have in common, however long the computation is.

The error is uniform, as that of a rounding is that may be anything up to one unit (precision.py): with errors of one
size, up or down, the norm of many would hardly vary, and no honest one would meet it.  (Stochastic rounding: Croci,
Fasi, Higham, Mary and Mikaitis 2022, "Stochastic rounding: implementation, error analysis and applications".  There a
result goes to one of its two neighbours; here the roundings of a whole sum go together.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reference import random

from .number import Noisy
from .precision import Floats


class Errors:
    """The words of a seed, one after the other, as errors."""

    def __init__(self, seed: int) -> None:
        self._seed, self._next = seed, 0

    def take(self, shape: tuple[int, ...]) -> Floats:
        """Return numbers between -sqrt(3) and sqrt(3), 2^16 of them as likely as each other: variance 1 - 2^-32."""
        size = int(np.prod(shape))
        count = -(-size // 4)
        words = random.words(self._seed, self._next, count).astype("<u8")
        self._next += count
        whole = words.view("<u2")[:size].astype(np.float64).reshape(shape)
        return np.asarray((whole - 32767.5) * (3**0.5 * 2.0**-15))


class Drawn(Noisy):
    """An array whose values have been rounded at random, and are exact; made by `drawing`."""

    __slots__ = ()
    errors: Errors  # of the class: every draw of one computation takes the next

    @classmethod
    def of(cls, values: Any) -> Drawn:
        """Take values as they are."""
        v = np.asarray(values, np.float64)
        return cls(v, np.zeros_like(v), np.zeros_like(v), None)

    def map(self, move: Callable[[Floats], Any]) -> Drawn:
        return self._like(super().map(move))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return self._drawn(super().__array_ufunc__(ufunc, method, *inputs, **options))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        results = super().__array_function__(function, types, args, kwargs)
        return [self._drawn(r) for r in results] if isinstance(results, list) else self._drawn(results)

    def _drawn(self, result: Any) -> Any:
        """Settle a result's error, if it is a number that has one."""
        if not isinstance(result, Noisy):
            return result
        if not np.any(result.variance):
            return self._like(result)
        drawn = self.of(result.v + result.sigma * self.errors.take(result.shape))
        drawn.terms, drawn.spared = result.terms, result.spared
        return drawn

    def _like(self, x: Noisy) -> Drawn:
        return type(self)(x.v, x.variance, x.shared, x.worst, terms=x.terms, spared=x.spared)


def drawing(seed: int) -> type[Drawn]:
    """Return the kind of number that one computation is made on: the same seed and computation, the same results."""
    return type("Drawn", (Drawn,), {"errors": Errors(seed), "__slots__": ()})
