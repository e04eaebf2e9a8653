"""How long a call of a mutant may take, and all calls of a look: one that never ends is not waited for much longer than
a right call takes, and what takes long is asked last.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Asked = TypeVar("Asked")

_TIMES = 20.0  # as long as the call has taken: a mutant may be slow without being wrong
_LEAST_S = 1.0  # a busy machine is slow, too
_LONG_S = (0.3, 1.5)  # seconds from which on a case comes late, and last


class Patience:
    """The time that each case's calls have taken where the case passed, and the limit that follows from it.

    most_s: the limit of a case that has not passed yet.
    """

    def __init__(self, most_s: float) -> None:
        self._most_s = most_s
        self._taken: dict[str, float] = {}

    def limit_s(self, case: str) -> float:
        """Return how many seconds a call of this case may take."""
        taken = self._taken.get(case)
        return self._most_s if taken is None else _LEAST_S + _TIMES * taken

    def knows(self, case: str) -> bool:
        """Whether the case has passed before."""
        return case in self._taken

    def note(self, case: str, seconds: float) -> None:
        """Remember how long a case took that passed."""
        self._taken[case] = min(seconds, self._taken.get(case, seconds))

    def long_ones_last(
        self, cases: Iterable[Asked], key_of: Callable[[Asked], str], guess_of: Callable[[Asked], float]
    ) -> list[Asked]:
        """Return cases in their own order, those last that took long; guess_of: seconds, of one that has not passed."""

        def rank(case: Asked) -> int:
            taken = self._taken.get(key_of(case))
            return bisect_left(_LONG_S, guess_of(case) if taken is None else taken)

        return sorted(cases, key=rank)


class Allowance:
    """The seconds that a look may take in each of several settings, of cases that do not fail.

    left_out: the keys of those that were not asked in one of them, since its time was over.
    """

    def __init__(self, seconds: float = math.inf) -> None:
        self._seconds = seconds
        self.left_out: set[str] = set()

    @property
    def is_bounded(self) -> bool:
        """Whether there is an end to the time."""
        return self._seconds < math.inf

    def within(self, cases: Iterable[Asked], key_of: Callable[[Asked], str]) -> Iterator[Asked]:
        """Yield cases until the time of a setting is over, which begins with the first of them."""
        end = time.monotonic() + self._seconds
        for case in cases:
            if time.monotonic() < end:
                yield case
            else:
                self.left_out.add(key_of(case))
