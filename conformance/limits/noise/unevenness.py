"""What the terms of a long sum lose below the last digit of its partial sums, where that does not even out.

A partial sum is a whole multiple of its last digit, so the rounding of its sum with a term depends on what the term has
below that digit and on nothing else.  Terms in which that is the same, since they are equal or since they differ by
whole digits, round to one side all of them, and the sum drifts with their number and not with its root.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from .precision import Floats, roundings

CHANCE = 4.0  # standard deviations
RAMP = 2.0**-10  # of a digit: over so much the step of rounding at one half is spread, before it or behind it
SURELY = 1 + 2.0**-30  # rounding in float64 moves no comparison by so much


Share = Callable[[Floats, Floats], Floats]  # how much of the partial sums lies between two sizes


class _Level(NamedTuple):
    """Partial sums between two sizes: their last digit, and how many of it roundings there add up to."""

    bottom: Floats
    top: Floats
    digit: Floats
    lost: Floats


def lean(
    terms: Floats, n: Floats, reach: Floats, add_up: Callable[[Floats], Floats], levels: int = 2, axis: int = -1,
    others: Sequence[Callable[[], Share]] = (),
) -> Floats:  # fmt: skip
    """How far sums of `terms` drift, beyond what they do by chance.

    n: how many terms a sum has.  reach: the largest size of its partial sums, which are taken to be spread evenly up to
    it.  Both in the shape that `add_up`, which adds what each term loses along the axis, returns, the axis kept.  Where
    sums run on, the last of them says what digits there are.  others: each finds where the partial sums of another
    order lie; the order that drifts farthest counts.

    Partial sums of the reach's own leading binary digit lose what terms have below the last digit of these; those of
    the next ones less, in so many levels, the last of which stands for all that are smaller.  So nothing jumps where a
    reach passes a power of two, as the ramps see to it that nothing jumps where a term passes a half.

    By chance the drift has a variance of n / 12 digits; four standard deviations are not counted.
    """
    with np.errstate(all="ignore"):
        found = _levels(terms, reach, lambda digits: _lost(digits, add_up), levels, axis)
        by_chance = CHANCE**2 * n / 12
        # The drift in digits is a mean of what the levels lose: no order has more than the one that loses most.
        if all(np.all(SURELY * level.lost**2 <= by_chance) for level in found):
            return np.zeros(np.broadcast_shapes(reach.shape, np.shape(n)))
        shares = itertools.chain([_evenly(reach)], (find() for find in others))
        return functools.reduce(np.maximum, (_beyond(share, found, by_chance) for share in shares))


def in_the_mean(terms: Floats, sigma: Floats) -> float:
    """How far sums along the last axis drift, in sigma, in the mean of all of them, beyond what chance makes of it.

    Positive terms of many sizes drift downward: those below half of a partial sum's last digit lose all of themselves,
    and few are large enough to be rounded up.  Of partial sums that are spread evenly, of those of the terms as they
    stand, and of those from the other end, those count that drift farthest.
    """
    with np.errstate(all="ignore"):
        reach = np.max(np.abs(np.cumsum(terms, axis=-1)), axis=-1, keepdims=True, initial=0.0)
        found = _levels(terms, reach, lambda digits: np.sum(_nearest(digits), axis=-1, keepdims=True), 4, -1)
        shares = (_evenly(reach), _as_they_stand(terms), _as_they_stand(terms[..., ::-1]))
        drifts = (_drift(share, found)[0][..., 0] / sigma for share in shares)
        return max(_beyond_chance(np.nan_to_num(drift, posinf=0.0, neginf=0.0)) for drift in drifts)


def _beyond_chance(drifts: Floats) -> float:
    return float(max(0.0, abs(np.mean(drifts)) - CHANCE * np.std(drifts) / drifts.size**0.5))


def _nearest(terms: Floats) -> Floats:
    """What the rounding of each term, in digits, adds to it; nothing in the mean where it lies half way."""
    below = terms - np.floor(terms)
    return np.where(below == 0.5, 0.0, (below > 0.5) - below)


def _levels(terms: Floats, reach: Floats, lost: Callable[[Floats], Floats], levels: int, axis: int) -> list[_Level]:
    """What is lost on each level; of every order of the terms the same."""
    wide = roundings().accumulator
    top = np.ldexp(1.0, np.frexp(np.take(reach, [-1], axis=axis))[1])
    found = []
    for level in range(levels):
        bottom = top / 2
        digit = 2 * wide.unit * np.maximum(bottom, wide.smallest)
        lowest = bottom if level < levels - 1 else np.zeros_like(top)
        found.append(_Level(lowest, top, digit, lost(terms / digit)))
        top = bottom
    return found


def _beyond(share: Share, levels: Sequence[_Level], by_chance: Floats) -> Floats:
    """How far the sums of one order drift beyond chance."""
    drift, digits = _drift(share, levels)
    return np.asarray(np.nan_to_num(np.sqrt(np.maximum(drift**2 - by_chance * digits**2, 0.0)), posinf=0.0))


def _drift(share: Share, levels: Sequence[_Level]) -> tuple[Floats, Floats]:
    """How far the sums of one order drift, of which `share` tells where they lie, and their last digit in the mean."""
    weights = [level.digit * share(level.bottom, level.top) for level in levels]
    drift = np.add.reduce([weight * level.lost for weight, level in zip(weights, levels, strict=True)])
    return np.asarray(drift), np.asarray(np.add.reduce(weights))


def _evenly(reach: Floats) -> Share:
    return lambda bottom, top: np.maximum((np.minimum(reach, top) - bottom) / reach, 0.0)


def of_largest_first(terms: Floats) -> Share:
    """Where the partial sums lie in the order in which one large term has all of them near the whole, along the last
    axis."""
    order = np.argsort(-np.abs(terms), axis=-1)
    return _as_they_stand(np.take_along_axis(terms, order, axis=-1))


def _as_they_stand(terms: Floats) -> Share:
    sizes = np.abs(np.cumsum(terms, axis=-1))
    return lambda bottom, top: np.mean((sizes >= bottom) & (sizes < top), axis=-1, keepdims=True)


def _lost(terms: Floats, add_up: Callable[[Floats], Floats]) -> Floats:
    """How far from zero the roundings of terms, in digits, add up: just before the step at one half, or just behind."""
    below = terms - np.floor(terms)
    past = (below - 0.5) / RAMP
    late, early = (np.abs(add_up(np.minimum(np.maximum(ramp, 0.0), 1.0) - below)) for ramp in (past, past + 1.0))
    return np.asarray(np.maximum(late, early))
