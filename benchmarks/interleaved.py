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
Seconds = dict[str, list[float]]  # of each candidate, round by round


class Rounds(NamedTuple):
    """How often all candidates take their turn: at least `least` times, then until `seconds` have passed, or `most`."""

    least: int
    most: int
    seconds: float


class Spread(NamedTuple):
    """A median and its quartiles."""

    median: float
    lower: float
    upper: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.lower:.2f} to {self.upper:.2f})"


def take_turns(
    candidates: Candidates, rounds: Rounds, *, warmup: int = 1, clock: Callable[[], float] = time.perf_counter
) -> Seconds:
    """Return the seconds that each candidate took in each round, without those of the `warmup` rounds before."""
    seconds: Seconds = {name: [] for name in candidates}
    for _ in range(warmup):
        for call in candidates.values():
            call()
    begun = time.perf_counter()
    for turn in range(rounds.most):
        if turn >= rounds.least and time.perf_counter() - begun >= rounds.seconds:
            break
        for name, call in candidates.items():
            started = clock()
            call()
            seconds[name].append(clock() - started)
    return seconds


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
