"""Sums of noise numbers in which a term stands many times: without writing it out as often.

A term that stands m times is the same number with the same error m times, so the error that it comes with counts m^2
times in the variance.  Equal terms also round alike: a partial sum is a multiple of its last digit, so what is lost of
a term that is added to it depends on the term alone, and of m equal terms the roundings count m^2 times, too.  Of terms
that differ in their sign alone, those lost parts cancel.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import unevenness
from .cutting import cut
from .number import Noisy, between_steps, flushed, lift, settled, together
from .precision import Floats, of_products, roundings, using
from .reductions import _lean, _walk
from .scaled import grain, is_exact
from .shorter import as_factors, out_of_range
from .written import written

Whole = NDArray[np.int64]


def counted_sum(x: Any, member: Whole, factor: NDArray[Any] | None = None) -> Noisy:
    """Sum along the first axis of x[member] * factor: of a few noise numbers that stand in many places.

    member: for every place which of x stands there; factor: powers of two of either sign, 1 where there are none.
    Terms too faint for the whole may be lost, as in reductions.total.
    """
    terms = lift(x)
    many, f = _times(member, factor, len(terms))

    def summed(part: Floats, weights: Floats) -> Floats:
        return np.asarray(np.tensordot(many @ weights, part, axes=1))

    size = np.abs(terms.v)
    v, squared, sizes = summed(terms.v, f), summed(size**2, f**2), summed(size, np.abs(f))
    net = many @ f
    sure = is_exact(sizes, grain(terms) * float(np.abs(f).min())) | (member.size <= 1)
    partial = (squared + np.sqrt(summed(size**4, f**4))) / 2 + v**2 / 3
    lost = summed(np.where(size < sizes * roundings().accumulator.unit, size, 0.0), np.abs(f))
    own = np.where(sure, 0.0, _walk(_alike(many, f), partial) + lost**2)
    variance, shared = (np.tensordot(net**2, part, axes=1) for part in (terms.variance, terms.shared))
    reach = np.where(sure, 0.0, roundings().sum_reach * member.size * sizes)
    worst = None if terms.worst is None else summed(terms.worst, np.abs(f)) + reach
    handed_on = None if terms.lean is None else summed(terms.lean, np.abs(f))
    lean = _lean(np.float64(member.size), partial, sure, handed_on, lambda n: _uneven(terms.v, n, v, summed, f))
    return between_steps(settled(v, variance + own, shared, worst, lean), of_array=True)


def _uneven(terms: Floats, n: Floats, whole: Floats, summed: Callable[[Floats, Floats], Floats], f: Floats) -> Floats:
    drift = unevenness.lean(terms, n, np.abs(whole)[None], lambda part: summed(part, f)[None], axis=0)
    return np.asarray(drift[0])


def _times(member: Whole, factor: NDArray[Any] | None, terms: int) -> tuple[Floats, Floats]:
    """How often each term stands with each factor, (terms, factors), and the factors that there are."""
    if factor is None:
        return np.bincount(member, minlength=terms)[:, None].astype(np.float64), np.ones(1)
    powers = np.frexp(factor)[1]
    lowest, kinds = int(powers.min()), int(np.ptp(powers)) + 1
    of = 2 * (powers - lowest) + (factor < 0)
    many = np.bincount(member * (2 * kinds) + of, minlength=terms * 2 * kinds).reshape(terms, 2 * kinds)
    sizes = np.ldexp(1.0, np.arange(lowest, lowest + kinds) - 1)
    return many.astype(np.float64), np.stack([sizes, -sizes], axis=1).reshape(-1)


def _alike(many: Floats, factors: Floats) -> float:
    """How many independent roundings the places count as: the square of those that do not cancel, of each size."""
    found = 0.0
    for power in np.unique(np.abs(factors)):
        of = many[:, np.abs(factors) == power]
        signs = np.sign(factors[np.abs(factors) == power])
        found += float(np.maximum(of.sum(axis=1), (of @ signs) ** 2).sum())
    return found


def counted_matmul(a: Any, b: Any, counts: Any) -> Noisy:
    """The product of matrices a (..., n) and b (n, m) in whose sums product i stands counts[..., i] times.

    Drift is a third of the square of the whole: the partial sums grow with the number of terms.
    """
    if roundings().flushes_products:
        with using(of_products()):
            return counted_matmul(flushed(lift(a)), flushed(lift(b)), counts)
    x, y = as_factors(lift(a), lift(b))
    many = np.broadcast_to(np.asarray(counts, np.float64), x.shape)
    xx, yy, ax, ay = x.v**2, y.v**2, np.abs(x.v), np.abs(y.v)
    v, squared, sizes = (many * x.v) @ y.v, (many * xx) @ yy, (many * ax) @ ay
    there, each = ((many**power * (ax > 0)) @ (ay > 0).astype(np.float64) for power in (1, 2))
    partial = (squared + np.sqrt((many * xx**2) @ yy**2)) / 2 + v**2 / 3
    u = roundings().accumulator.unit
    products = np.zeros(()) if _are_ones(y) else u * u / 3 * ((many**2 * xx) @ yy)
    sure = there <= 1
    small = written(x.v, y.v, lambda one, other: (many * one) @ other)
    cost = cut(there, partial, np.sqrt((many * xx**2) @ yy**2), sizes, False, small)
    variance = products + np.where(sure, 0.0, _walk(each, partial)) + (many**2 * x.variance) @ yy
    variance = variance + (many**2 * xx) @ y.variance + cost.variance
    shared = (many**2 * np.maximum(x.shared, x.variance / max(1, x.v[..., 0].size))) @ yy
    shared = shared + (many**2 * xx) @ np.maximum(y.shared, y.variance / max(1, y.shape[-1]))
    variance = variance + out_of_range(x, y, v)
    lean = together(_leaning(x, y, many, there, partial, sure), cost.lean)
    worst = _worst(x, y, many, there * sizes)
    return between_steps(settled(v, variance, shared, None if worst is None else worst + cost.reach, lean))


def _are_ones(y: Noisy) -> bool:
    return bool(np.all(y.v == 1) and not np.any(y.variance))


def _worst(x: Noisy, y: Noisy, many: Floats, reach: Floats) -> Floats | None:
    if x.worst is None or y.worst is None:
        return None
    handed_on = (many * x.worst) @ np.abs(y.v) + (many * np.abs(x.v)) @ y.worst
    return np.asarray(handed_on + roundings().sum_reach * reach)


def _leaning(x: Noisy, y: Noisy, many: Floats, n: Floats, partial: Floats, sure: Any) -> Floats | None:
    lean = None if x.lean is None else (many * x.lean) @ np.abs(y.v)
    lean = together(lean, None if y.lean is None else (many * np.abs(x.v)) @ y.lean)
    return _lean(n, partial, sure, lean)


def counted_from_end(a: Any, b: Any, counts: Any, member: Whole, at: Whole) -> Noisy:
    """For places i the sum over k >= i and all h of a[k, h] * b[member[k], h], counts[h] times each.

    a: (n, h); b: (members, h, m); at: the places, in order.  Returns (places, m).  Drift is that of the partial sums in
    the order of the places or its reverse.
    """
    if roundings().flushes_products:
        with using(of_products()):
            return counted_from_end(flushed(lift(a)), flushed(lift(b)), counts, member, at)
    x, y = as_factors(lift(a), lift(b))
    many, (members, heads, columns) = np.asarray(counts, np.float64), y.shape
    behind = np.searchsorted(at, np.arange(len(member)), side="right")  # how many of the places are no later
    cell = ((behind * members + member)[:, None] * heads + np.arange(heads)).reshape(-1)
    shape = (len(at) + 1, members * heads)

    def summed(weights: Floats, factors: Floats) -> Floats:
        between = np.asarray(np.bincount(cell, weights.reshape(-1), math.prod(shape)), np.float64).reshape(shape)
        return _from_end(between)[1:] @ factors.reshape(members * heads, columns)

    u, yy, xx, ay, ax = roundings().accumulator.unit, y.v**2, x.v**2, np.abs(y.v), np.abs(x.v)
    whole = _from_end(np.matmul((many * x.v)[:, None], y.v[member])[:, 0])
    v, squared, sizes = whole[at], summed(many * xx, yy), summed(many * ax, ay)
    n, each = (_from_end(((ax > 0) * many**power).sum(axis=1))[at, None] + np.zeros_like(v) for power in (1, 2))
    fourth = np.sqrt(summed(many * xx**2, yy**2))
    partial = (squared + fourth) / 2 + _drift_from_end(whole)[at]
    handed_on = summed(many**2 * x.variance, yy) + (summed(many**2 * xx, y.variance) if np.any(y.variance) else 0.0)
    small = written(x.v, y.v, lambda one, other: summed(many * one, other))
    cost = cut(n, partial, fourth, sizes, False, small)
    variance = u * u / 3 * squared + np.where(n > 1, _walk(each, partial), 0.0) + handed_on + cost.variance
    shared = summed(many**2 * np.maximum(x.shared, x.variance / columns), yy)
    worst = None
    if x.worst is not None and y.worst is not None:
        worst = summed(many * x.worst, ay) + summed(many * ax, y.worst) + roundings().sum_reach * n * sizes
        worst = worst + cost.reach
    lean = None if x.lean is None else summed(many * x.lean, ay)
    lean = together(lean, None if y.lean is None else summed(many * ax, y.lean))
    lean = together(_lean(n, partial, n <= 1, lean), cost.lean)
    return between_steps(settled(v, variance, shared, worst, lean))


def _from_end(terms: Floats) -> Floats:
    return np.asarray(np.cumsum(terms[::-1], axis=0)[::-1])


def _drift_from_end(v: Floats) -> Floats:
    """Mean square of the partial sums of each sum, from the end or up to it, or a third of the whole's square."""
    places = np.arange(len(v), 0, -1.0)[:, None]
    behind, square = (np.cumsum(part[::-1], axis=0)[::-1] / places for part in (v, v**2))
    return np.maximum(np.maximum(square, v**2 - 2 * v * behind + square), v**2 / 3)
