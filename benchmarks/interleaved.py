"""Candidates timed in turn, A B A B ..., and the ratios of their times.

A shared machine is faster in one second than in the next. Candidates that take turns meet the same machine, so the
ratio of their times within a round says more than that of times taken apart; its median over the rounds is the figure,
its quartiles say how far to rely on it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median, quantiles
from typing import Any, NamedTuple

Candidates = Mapping[str, Callable[[], Any]]
Seconds = dict[str, list[float]]  # of a call of each candidate, round by round
Clock = Callable[[], float]


class Rounds(NamedTuple):
    """How often all candidates take their turn, and what a turn is: one call, or calls for as long as is said.

    Rounds are made at least `least` times, then until `seconds` have passed, or `most` times. A turn begins with
    `settle` seconds of calls that do not count: where candidates have threads of their own, those of the one before
    keep a core busy for some milliseconds. Those that count fill `turn` seconds.
    """

    least: int
    most: int
    seconds: float = 0.0
    settle: float = 0.0
    turn: float = 0.0


class Spread(NamedTuple):
    """A median and its quartiles."""

    median: float
    lower: float
    upper: float

    def __str__(self) -> str:
        return self.to(2)

    def to(self, digits: int) -> str:
        """All three, to that many digits behind the point."""
        return f"{self.median:.{digits}f} ({self.lower:.{digits}f} to {self.upper:.{digits}f})"


def take_turns(candidates: Candidates, rounds: Rounds, *, warmup: int = 1, clock: Clock = time.perf_counter) -> Seconds:
    """Return the seconds that a call of each candidate took in each round, but for the `warmup` rounds before."""
    seconds: Seconds = {name: [] for name in candidates}
    for _ in range(warmup):
        for call in candidates.values():
            call()
    begun = time.perf_counter()
    for number in range(rounds.most):
        if number >= rounds.least and time.perf_counter() - begun >= rounds.seconds:
            break
        for name, call in candidates.items():
            if rounds.settle:
                _calls(call, rounds.settle)
            started = clock()
            made = _calls(call, rounds.turn)
            seconds[name].append((clock() - started) / made)
    return seconds


def _calls(call: Callable[[], Any], seconds: float) -> int:
    """Call for that long, at least once; return how often."""
    until, made = time.perf_counter() + seconds, 0
    while not made or time.perf_counter() < until:
        call()
        made += 1
    return made


def spread(values: Sequence[float]) -> Spread:
    """Return the median and the quartiles of values, by linear interpolation; ValueError where there are none."""
    if not values:
        raise ValueError("spread: expected at least one value, got none")
    if len(values) == 1:
        return Spread(values[0], values[0], values[0])
    lower, _, upper = quantiles(values, n=4, method="inclusive")
    return Spread(median(values), lower, upper)


def ratio(numerator: Sequence[float], denominator: Sequence[float]) -> Spread:
    """Return how many times the denominator's seconds the numerator took, taken round by round.

    ValueError where the two were not timed in the same rounds.
    """
    if len(numerator) != len(denominator):
        raise ValueError(f"ratio: expected times of the same rounds, got {len(numerator)} and {len(denominator)}")
    return spread([above / below for above, below in zip(numerator, denominator, strict=True)])
