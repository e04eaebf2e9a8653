"""Wrong readings of how the numbers of strided tensors are joined along axes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from reference.arrays import Array
from reference.ops.strided_functions import REDUCTIONS

from .reading import Given, Reading
from .strided_places import changed, of_arguments, rows_of, write

SUM, PRODUCT, LARGEST, SMALLEST, MEAN = range(5)


def _reduced(by: Callable[[Array, Any, Given], Array]) -> Callable[..., Array]:
    """reduce_strided by another way to join: by(rows, start, arguments), rows: (elements, numbers)."""

    def compute(g: Given) -> Array:
        rows = rows_of(g)
        return write(g, by(rows, g["start"], g)) if len(rows) else np.copy(g["output"])

    return of_arguments("reduce_strided", compute)


def _join(rows: Array, start: Any, g: Given) -> Array:
    return REDUCTIONS[g["function"]](rows, start)


_NONE = {SUM: 0.0, PRODUCT: 1.0, LARGEST: -np.inf, SMALLEST: np.inf, MEAN: 0.0}


def _without_start(rows: Array, start: Any, g: Given) -> Array:
    return _join(rows, rows.dtype.type(_NONE[g["function"]]), g)


def _odd_one_left_out(rows: Array, start: Any, g: Given) -> Array:
    return _join(rows[:, : max(1, rows.shape[1] // 2 * 2)] if rows.shape[1] > 1 else rows, start, g)


def _start_in_every_block(rows: Array, start: Any, g: Given) -> Array:
    """Blocks of 1,024 begin with start, each."""
    joined = _join(rows, start, g)
    for _ in range(1, -(-rows.shape[1] // 1024)):
        joined = REDUCTIONS[SUM if g["function"] == MEAN else g["function"]](joined[:, None], start)
    return joined


def _mean_of_all(rows: Array, start: Any, g: Given) -> Array:
    if g["function"] != MEAN or not rows.shape[1]:
        return _join(rows, start, g)
    return REDUCTIONS[SUM](rows, start) / rows.dtype.type(rows.size)


def _start_added_to_mean(rows: Array, start: Any, g: Given) -> Array:
    if g["function"] != MEAN or not rows.shape[1]:
        return _join(rows, start, g)
    return REDUCTIONS[MEAN](rows, rows.dtype.type(0)) + start


def _not_divided(rows: Array, start: Any, g: Given) -> Array:
    return REDUCTIONS[SUM](rows, start) if g["function"] == MEAN else _join(rows, start, g)


def _mean_of_none(rows: Array, start: Any, g: Given) -> Array:
    return np.full(len(rows), start) if g["function"] == MEAN and not rows.shape[1] else _join(rows, start, g)


def _repeats_once(rows: Array, start: Any, g: Given) -> Array:
    kept = len(g["output_strides"])
    along = zip(g["shape"][kept:], g["input_strides"][kept:], strict=True)
    times = math.prod(int(length) for length, stride in along if stride == 0)
    if g["function"] not in (SUM, MEAN, PRODUCT) or times <= 1:
        return _join(rows, start, g)
    if g["function"] == PRODUCT:
        once = tuple(slice(1) if stride == 0 else slice(None) for stride in g["input_strides"][kept:])
        several = rows.reshape(len(rows), *map(int, g["shape"][kept:]))[(slice(None), *once)]
        return REDUCTIONS[PRODUCT](several.reshape(len(rows), -1), start)
    total = REDUCTIONS[SUM](rows, rows.dtype.type(0)) / rows.dtype.type(times) + start
    return total / rows.dtype.type(rows.shape[1]) if g["function"] == MEAN else total


def _first_row(rows: Array, start: Any, g: Given) -> Array:
    return _join(np.take(rows, np.zeros(rows.shape[1], np.int64), axis=1), start, g)


def _nan_passed_over(rows: Array, start: Any, g: Given) -> Array:
    ways = {LARGEST: np.fmax, SMALLEST: np.fmin}
    if g["function"] not in ways or not rows.shape[1]:
        return _join(rows, start, g)
    way = ways[g["function"]]
    return np.asarray(way(way.reduce(rows, axis=1), start))


def _first_axes(g: Given) -> Given:
    """The axes that are joined are taken for the first ones, those that are kept for the last."""
    kept, shape, strides = len(g["output_strides"]), g["shape"], g["input_strides"]
    order = [*range(len(shape) - kept, len(shape)), *range(len(shape) - kept)]
    return {"input_strides": np.array([strides[axis] for axis in order], np.int64)}


_REDUCED = (
    ("starts from 0", "The start value crosses the boundary as another type.",
     _reduced(lambda rows, start, g: _join(rows, start * 0, g))),
    ("start left out", "The joining begins with its first number.", _reduced(_without_start)),
    ("start in every block", "Each block of a long row begins with it.", _reduced(_start_in_every_block)),
    ("last of an odd number left out", "A tree halves what there is.", _reduced(_odd_one_left_out)),
    ("mean over all elements", "Divided by how many numbers there are in all.", _reduced(_mean_of_all)),
    ("start added to the mean", "The sum alone is divided.", _reduced(_start_added_to_mean)),
    ("mean not divided", "A sum.", _reduced(_not_divided)),
    ("mean of no number is start", "Nothing is divided where there is nothing.", _reduced(_mean_of_none)),
    ("what repeats counted once", "Axes along which the input does not move are left out.", _reduced(_repeats_once)),
    ("first row of numbers read for all", "The pointer does not move along what is joined.", _reduced(_first_row)),
    ("NaN passed over", "fmaxf and fminf give the other one.", _reduced(_nan_passed_over)),
    ("other axes joined", "The first axes are joined, and the last kept.", changed("reduce_strided", _first_axes)),
)  # fmt: skip

READINGS = (
    Reading("reduce_strided", "functions counted from 1", "The table begins at 1.",
            changed("reduce_strided", lambda g: {"function": (g["function"] + 1) % len(REDUCTIONS)})),
    *(Reading("reduce_strided", name, why, function) for name, why, function in _REDUCED),
)  # fmt: skip
