"""Sums and products of matrices on noise numbers.

A sum of n terms t makes n - 1 roundings, one of each partial sum s.  Their squares add up to about
n * ((sum(t^2) + max(t^2)) / 2 + mean(s^2)): the first part is what partial sums of terms in no particular order make
(n times the largest term where one of them outweighs the rest); the second what drift there is in the order the terms
stand in, or its reverse (a third of the sum's square where all have one sign, more where signs come in runs, as the
tokens of a text do).  Equal terms round alike, not independently: m of them count m^2 times; so do terms that have the
same below the last digit of the partial sums (unevenness.py).  Terms below one rounding
of the whole are not rounded at random but lost for certain in an order that comes to them last; their sum counts in
full.  The largest square is taken as the root of the terms' fourth powers, which is never less.

Rounded toward zero, each partial sum loses u * |s| in the mean: together at most u * n * root(mean(s^2)).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import common, extremes, factors, unevenness
from .arithmetic import divide, unknown
from .cutting import cut
from .number import Noisy, Scalable, between_steps, doubted, flushed, lift, settled, together
from .precision import Floats, of_products, roundings, using
from .scaled import grain, is_exact
from .shorter import as_factors, out_of_range
from .written import written

LEVELS = 12  # of binary digits below that of a running sum's end
DRIFTING = 512  # sums of a matrix product of which the mean drift is found
PLACES = 8  # where the partial sums of a matrix product are looked at


def _walk(n: Any, partial: Floats) -> Floats:
    """Variance of the roundings of a sum of n terms; partial: mean square of its partial sums."""
    u = roundings().accumulator.unit
    return np.where(n > 1, u * u / 3 * n * partial, 0.0)


def _lean(
    n: Any, partial: Floats, sure: Any, handed_on: Floats | None, uneven: Callable[[Floats], Floats] | None = None
) -> Floats | None:
    """What a sum may lean by: what its terms hand on, and its own where they lose alike or are rounded toward zero."""
    if not roundings().truncates:
        own = np.zeros(()) if uneven is None or np.all(sure) else np.where(sure, 0.0, uneven(n))
        return together(handed_on, own if own.any() else None)
    own = roundings().accumulator.unit * n * np.sqrt(partial)
    return together(handed_on, np.where(sure | (n <= 1), 0.0, own))


def _least_sum() -> float:
    """The least number but zero that a sum may be and is stored as it is."""
    least = roundings().working.smallest
    return least if roundings().flushes else 2 * roundings().working.unit * least


def _drift(partial: Floats, whole: Floats) -> Floats:
    """Mean square of partial sums (last axis), or of those from the other end, and a third of the whole's square."""
    ahead, behind = np.mean(partial**2, axis=-1), np.mean((whole[..., None] - partial) ** 2, axis=-1)
    return np.maximum(np.maximum(ahead, behind), whole**2 / 3)


def _summed(
    x: Noisy, add_up: Callable[[Floats], Floats], drift: Callable[[Floats], Floats], alike: Floats | float = 0.0,
    lost: Floats | float = 0.0, uneven: Callable[[Floats], Floats] | None = None,
) -> Noisy:  # fmt: skip
    """A sum that `add_up` computes.

    alike: more roundings for terms that round alike; lost: the faint ones' sum; uneven: how far sums of n terms drift.
    """
    v, sizes = add_up(x.v), add_up(np.abs(x.v))
    n = add_up(((x.v != 0) | (x.variance > 0)).astype(np.float64))
    sure = (n <= 1) | is_exact(sizes, grain(x))
    partial = (add_up(x.v**2) + np.sqrt(add_up(x.v**4))) / 2 + drift(v)
    own = np.where(sure, 0.0, _walk(n + alike, partial) + np.square(lost))
    worst = None if x.worst is None else add_up(x.worst) + np.where(sure, 0.0, roundings().sum_reach * n * sizes)
    lean = _lean(n, partial, sure, None if x.lean is None else add_up(x.lean), uneven)
    result = settled(v, _handed_on(x.variance, add_up) + own, _handed_on(x.shared, add_up), worst, lean)
    result = doubted(result, lambda: add_up(unknown(x).astype(np.float64)) > 0)
    result = between_steps(result, of_array=True)
    result.terms, result.spared = n, np.where(sure & (n > 1), sizes, 0.0)
    return result.of_factors(factors.summed(x.factors, add_up, v))


def _handed_on(variances: Floats, add_up: Callable[[Floats], Floats]) -> Floats:
    """Variance that a sum has from its terms.

    Where numbers are rounded to few digits, terms that come of products with one factor in common have its error in
    common, and so do terms that are equal; then standard deviations add up.
    """
    if not roundings().errs_alike:
        return add_up(variances)
    return np.asarray(add_up(np.sqrt(variances)) ** 2)


def total(x: Noisy, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Noisy:
    """Sum over axes."""
    axes = tuple(range(x.ndim)) if axis is None else tuple(np.atleast_1d(axis) % x.ndim)
    kept = [a for a in range(x.ndim) if a not in axes]
    shape = [1 if a in axes else n for a, n in enumerate(x.shape)] if keepdims else [x.shape[a] for a in kept]
    rows = (*(x.shape[a] for a in kept), math.prod(x.shape[a] for a in axes))
    flat = x.map(lambda part: part.transpose(*kept, *axes).reshape(rows))
    size, n = np.abs(flat.v), flat.shape[-1]
    alike = _equal(size)
    faint = size < np.sum(size, axis=-1, keepdims=True) * roundings().accumulator.unit
    partial = np.cumsum(flat.v, axis=-1) if n else flat.v
    result = _summed(
        flat,
        lambda part: np.sum(part, axis=-1),
        lambda whole: _drift(partial, whole) if n else whole,
        alike * np.maximum(alike - 1, 0.0),
        np.sum(np.where(faint, size, 0.0), axis=-1),
        lambda terms: _uneven(flat.v, terms, partial),
    ).reshape(shape)
    if keepdims and np.all(x.v >= 0):
        result.sum_of = x
    return result


def _uneven(terms: Floats, n: Floats, partial: Floats) -> Floats:
    """How far sums along the last axis drift since their terms lose alike: as they stand, or the largest term first."""
    reach = np.max(np.abs(partial), axis=-1, keepdims=True, initial=0.0)
    add_up: Callable[[Floats], Floats] = lambda part: np.sum(part, axis=-1, keepdims=True)  # noqa: E731
    others = (lambda: unevenness.of_largest_first(terms),)
    return unevenness.lean(terms, n[..., None], reach, add_up, others=others)[..., 0]


def mean(x: Noisy, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Noisy:
    """Sum over axes divided by the number of terms."""
    axes = range(x.ndim) if axis is None else np.atleast_1d(axis)
    return divide(total(x, axis, keepdims), float(np.prod([x.shape[a] for a in axes])))


def cumulative(x: Noisy, axis: int) -> Noisy:
    """Running sums along one axis."""
    counts = np.cumsum(np.ones_like(x.v), axis=axis)
    return _summed(
        x,
        lambda part: np.asarray(np.cumsum(part, axis=axis)),
        lambda whole: np.cumsum(whole**2, axis=axis) / counts,
        uneven=lambda n: unevenness.lean(
            x.v, n, np.maximum.accumulate(np.abs(np.cumsum(x.v, axis=axis)), axis=axis),
            lambda part: np.asarray(np.cumsum(part, axis=axis)), LEVELS, axis,
        ),
    )  # fmt: skip


def segments(x: Noisy, starts: Any, axis: int = 0) -> Noisy:
    """Sums of the runs that begin at the given places (np.add.reduceat)."""
    return _summed(x, lambda part: np.asarray(np.add.reduceat(part, starts, axis=axis)), lambda whole: whole**2 / 3)


def matmul(a: Any, b: Any) -> Noisy:
    """Matrix product: its factors rounded first where the arithmetic does that, each product once, then summed."""
    if roundings().flushes_products:
        with using(of_products()):
            return matmul(flushed(lift(a)), flushed(lift(b)))
    x, y = lift(a), lift(b)
    if _is_gram(x, y):
        squares = total((x * x).reshape(-1))
        return squares.map(lambda part: part.reshape(*x.shape[:-1], y.shape[-1]))
    in_common, made_of, other_made_of = _in_common(x, y), x.factors, y.factors
    by_rows = common.added_up(x, y.v)
    x, y = as_factors(x, y)
    xx, yy, ax, ay = x.v**2, y.v**2, np.abs(x.v), np.abs(y.v)
    v, drift = _product(x.v, y.v)
    squared, sizes, largest = xx @ yy, ax @ ay, np.sqrt(xx**2 @ yy**2)
    n, u = _terms(x, y), roundings().accumulator.unit
    held = grain(x) * grain(y)
    sure = (n < 1) | is_exact(sizes, held) & (held >= _least_sum())
    partial = (squared + largest) / 2 + drift
    alike = _alike(ax, ay)
    own, reach = u * u / 3 * squared + _walk(n + alike, partial), roundings().sum_reach * n * sizes
    cost = cut(n, partial, largest, sizes, sure, written(x.v, y.v, np.matmul), held)
    variance = np.where(sure, 0.0, own) + cost.variance
    shared = variance * _of_equal_sums(x.v, y.v)
    worst = None if x.worst is None or y.worst is None else np.where(sure, 0.0, reach) + cost.reach
    lean = together(_lean(n, partial, sure, None), cost.lean)
    if roundings().in_the_mean:
        lean = together(lean, np.where(sure, 0.0, _in_the_mean(x.v, y.v, own)))
    below = extremes.of_matrix_product(made_of, other_made_of)
    if below is not None:
        # Sums of subnormal products round no more: of equal ones, which round alike, nothing else hides that.
        variance = variance + np.where(sure, 0.0, below[0] * (1 + alike / np.maximum(n, 1.0)))
        shared = shared + (np.where(sure, 0.0, below[0]) if below[2] else 0.0)
        worst = None if worst is None else worst + np.where(sure, 0.0, below[1])
    # An error in a row of x is in every column of the product, and the other way round.
    if x.errs:
        variance = variance + x.variance @ yy
        shared = shared + np.maximum(x.shared, x.variance / x.v[..., 0].size) @ yy
        worst = None if worst is None or x.worst is None else worst + x.worst @ ay
    if y.errs:
        variance = variance + xx @ y.variance
        shared = shared + xx @ np.maximum(y.shared, y.variance / y.v[..., 0, :].size)
        worst = None if worst is None or y.worst is None else worst + ax @ y.worst
    if roundings().is_rough:  # terms of second order are no longer small
        variance = variance + x.variance @ y.variance
        worst = None if worst is None or x.worst is None or y.worst is None else worst + x.worst @ y.worst
    variance, shared = variance + in_common, shared + in_common
    if by_rows is not None:
        variance, shared = variance + by_rows, shared + by_rows / x.v[..., 0].size
    lean = lean if x.lean is None else together(lean, x.lean @ ay)
    lean = lean if y.lean is None else together(lean, ax @ y.lean)
    if not np.all(np.isfinite(v)):  # 0 times infinity among the errors of what is not finite anyway
        variance, shared = (np.where(np.isfinite(v), part, 0.0) for part in (variance, shared))
    result = settled(v, variance + out_of_range(x, y, v), shared, worst, lean)
    result = extremes.of_infinities_in_sums(doubted(result, lambda: _unknown_factors(x, y)), x, y)
    result = between_steps(result)
    result.terms, result.spared = np.broadcast_to(n, v.shape), np.where(sure & (n > 1), sizes, 0.0)
    in_common = u * u / 3 * squared / min(v.shape[-2:], default=1)
    result.scalable = Scalable(in_common, np.where(sure, own, 0.0), np.where(sure, reach, 0.0), sizes, held)
    return result.of_factors(factors.matrix_product(made_of, other_made_of, x.v, y.v, v))


def _in_the_mean(x: Floats, y: Floats, variance: Floats) -> Floats:
    """What the sums of a matrix product drift by in the mean of all, of which some are looked at.

    Of the sums of `total` the faint terms' counts in full.
    """
    if variance.ndim < 2 or not variance.size or not x.size:
        return np.zeros(())
    chosen = np.unique(np.linspace(0, variance.size - 1, min(variance.size, DRIFTING)).astype(int))
    at = np.unravel_index(chosen, variance.shape)
    batch, sigma = variance.shape[:-2], np.sqrt(variance)
    rows, columns = (np.broadcast_to(each, (*batch, *each.shape[-2:])) for each in (x, y.swapaxes(-1, -2)))
    terms = rows[at[:-1]] * columns[(*at[:-2], at[-1])]
    return np.asarray(unevenness.in_the_mean(terms, sigma[at]) * sigma)


def _unknown_factors(x: Noisy, y: Noisy) -> Any:
    """Where nothing is known of some factor of a sum of products."""
    return unknown(x).any(axis=-1, keepdims=True) | unknown(y).any(axis=-2, keepdims=True)


def _alike(ax: Floats, ay: Floats) -> Any:
    """How many roundings more the products of each sum count since some of them are equal: m count m^2 times.

    No more are equal than numbers of their row, or of their column, are.
    """
    by_row = _most_equal(ax)
    if np.max(by_row, initial=0.0) < 2:
        return 0.0
    alike = np.minimum(by_row[..., None], _most_equal(np.swapaxes(ay, -1, -2))[..., None, :])
    return alike * np.maximum(alike - 1, 0.0)


def _equal(sizes: Floats) -> Floats:
    """How many numbers along the last axis are equal: to the largest, or to the one in the middle, whichever are more.

    A number that most are equal to stands in the middle.  A few of many that are equal by chance, as in a format of few
    digits, are not counted.
    """
    n = sizes.shape[-1]
    if not n:
        return np.zeros(sizes.shape[:-1])
    middle = np.partition(sizes, n // 2, axis=-1)[..., n // 2, None]
    counts = (np.sum((sizes == one) & (one > 0), axis=-1) for one in (np.max(sizes, axis=-1, keepdims=True), middle))
    return np.asarray(np.maximum(*counts), np.float64)


def _most_equal(sizes: Floats) -> Floats:
    """How many numbers along the last axis are equal to the one that most are equal to; zeros do not count.

    Tokens of a text that see nothing but their like, as in a rule of dashes, have equal activations.
    """
    if not sizes.shape[-1]:
        return np.zeros(sizes.shape[:-1])
    ordered = np.sort(sizes, axis=-1)
    begins = np.ones(ordered.shape, bool)
    begins[..., 1:] = (ordered[..., 1:] != ordered[..., :-1]) | (ordered[..., 1:] == 0)
    if begins.all():
        return np.asarray(np.any(sizes > 0, axis=-1), np.float64)
    place = np.arange(sizes.shape[-1])
    behind = place - np.maximum.accumulate(np.where(begins, place, 0), axis=-1)
    return np.asarray(np.max(np.where(ordered > 0, behind + 1.0, 0.0), axis=-1))


def _in_common(x: Noisy, y: Noisy) -> Floats:
    """Variance for errors that the numbers of a row may have in common, all to one side (see `_handed_on`).

    Where errors come in from many operations before (coarse), they do not point to one side.
    """
    if not roundings().errs_alike or roundings().coarse or not x.errs:
        return np.zeros(())
    return np.asarray((x.sigma @ y.v) ** 2)


def _of_equal_sums(x: Floats, y: Floats) -> float:
    """How much of the variance of a matrix product is one error: columns of y that are equal are summed alike."""
    rows, columns = x.shape[-2] if x.ndim > 1 else 1, y.shape[-1]
    share = 1 / max(1, rows) if columns > 1 and _are_equal(y.swapaxes(-1, -2)) else 0.0
    return min(1.0, share + (1 / max(1, columns) if rows > 1 and _are_equal(x) else 0.0))


def _are_equal(rows: Floats) -> bool:
    """Whether all rows of a matrix, or of each of several, are the same."""
    first, last = rows[..., :1, :], rows[..., -1:, :]
    return bool(np.array_equal(first, last) and np.all(rows == first))


def _product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """The product of two matrices, and the drift of its partial sums as seen at a few places on the way."""
    k = a.shape[-1]
    if k == 0:  # an expert without rows
        return a @ b, a @ b
    edges = np.unique(np.linspace(0, k, PLACES + 1).astype(int))
    pieces = (a[..., i:j] @ b[..., i:j, :] for i, j in itertools.pairwise(edges))
    partial = list(itertools.accumulate(pieces))
    return partial[-1], _drift(np.stack(partial, axis=-1), partial[-1])


def _is_gram(x: Noisy, y: Noisy) -> bool:
    """Whether a row is multiplied by itself as a column: a sum of squares, both factors of which err together."""
    same = x.v.__array_interface__["data"] == y.v.__array_interface__["data"]
    return same and x.size == y.size == x.shape[-1] == y.shape[-2]


def _terms(x: Noisy, y: Noisy) -> Any:
    """How many products of each sum are not exactly zero."""
    a, b = (x.v != 0) | (x.variance > 0), (y.v != 0) | (y.variance > 0)
    if a.all() and b.all():
        return np.float64(x.shape[-1])
    return a.astype(np.float64) @ b.astype(np.float64)
