"""Right values that stand where others belong: rows, columns or elements of the output, or elements of an input.

Unlike what `moved` finds they need not be all the right ones in another order: some may stand twice, or be zero, as
what a tile is stored from another thread's place leaves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from conformance.judging.diagnoses import Kind, Symptom
from conformance.limits.measure import SIGMAS
from conformance.limits.noise import FLOAT32, Noisy

from .failed import Array, Wrong
from .numbers import CHANCE

_WORK = 2**24  # numbers that are compared to find where the wrong lines come from
_SEVERAL = 3  # different numbers, of which chance may bring fewer


@dataclass(frozen=True)
class _Lines:
    """An output as lines of numbers: what a line is called, what should have come, what came, and which are wrong."""

    noun: str
    right: Any
    values: Array
    got: Array
    bad: Array


def lines_elsewhere(wrong: Wrong) -> Symptom | None:
    """Every wrong row, or column, holds what belongs to another one, or is zero."""
    return next((found for lines in _lines(wrong) if (found := _of_lines(wrong, lines))), None)


def lines_of_others(wrong: Wrong) -> Symptom | None:
    """Every wrong row holds what belongs into a row of another output, or is zero."""
    shape, bad = wrong.got.shape, wrong.beyond
    if len(shape) < 2 or not bad.any():
        return None
    flat = (-1, shape[-1])
    rows = np.asarray(bad.reshape(flat).any(axis=1))
    for name, other in wrong.call.expected.items():
        if name == wrong.output or not isinstance(other, Noisy) or other.v.shape[-1:] != shape[-1:]:
            continue
        lines = _Lines("row", other.reshape(flat), other.v.reshape(flat), wrong.got.reshape(flat), rows)
        if found := _of_lines(wrong, lines):
            words = f"rows that belong into {name}"
            return replace(found, words=words, general=words)
    return None


def elements_elsewhere(wrong: Wrong) -> Symptom | None:
    """Every wrong number is one that belongs to another place, or another one of the inputs' that are copied there."""
    return _of_elements(wrong) or _of_inputs(wrong)


def _lines(wrong: Wrong) -> Iterator[_Lines]:
    shape, bad = wrong.got.shape, wrong.beyond
    if len(shape) < 2 or not bad.any():
        return
    flat = (-1, shape[-1])
    right, rows = wrong.right.reshape(flat), np.asarray(bad.reshape(flat).any(axis=1))
    yield _Lines("row", right, wrong.values.reshape(flat), wrong.got.reshape(flat), rows)
    if len(shape) == 2:
        right = wrong.right.transpose(1, 0)
        yield _Lines(wrong.axes[-1], right, wrong.values.T, wrong.got.T, np.asarray(bad.any(axis=0)))


def _of_lines(wrong: Wrong, lines: _Lines) -> Symptom | None:
    shown = lines.bad & lines.got.any(axis=1)  # what is zero has no place that it comes from
    at = np.flatnonzero(shown)
    if not at.size or at.size * lines.values.size > _WORK:
        return None
    came = lines.got[at]
    if not (np.isfinite(came).all() and np.isfinite(lines.values).all()):
        return None
    source = np.array([int(np.argmin(np.square(lines.values - line).sum(axis=1))) for line in came.astype(np.float64)])
    belongs = lines.right[source]
    reach = np.ptp(lines.values, axis=0)
    chance = np.log(_share(belongs, reach, wrong)).sum(axis=1) + math.log(len(lines.values))
    if np.minimum(chance, 0.0).sum() > math.log(CHANCE) or not wrong.holds(belongs, came):
        return None
    also_zero = ", or zero" if at.size < np.count_nonzero(lines.bad) else ""
    general = f"every wrong {lines.noun} holds what belongs to another one"
    return Symptom(Kind.MOVED, f"{general}{_distance(at, source)}{also_zero}", general=general)


def _share(belongs: Any, reach: Array, wrong: Wrong) -> Array:
    """Of what lies as wide as the right values do the share that would pass for each of these."""
    if not isinstance(belongs, Noisy):
        return np.full(belongs.shape, 1.0 / wrong.choices)
    limit = SIGMAS * np.sqrt(belongs.variance + FLOAT32.variance(belongs.v))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(reach > 0, 2 * limit / reach, 1.0)
    return np.asarray(np.clip(np.where(np.isfinite(share), share, 1.0), np.finfo(np.float64).tiny, 1.0))


def _distance(at: Array, source: Array) -> str:
    """How far away that one is, where it is as far from every one."""
    away = source - at
    if at.size > 1 and (away == away[0]).all():
        return f", {abs(away[0])} {'further on' if away[0] > 0 else 'before'}"
    apart = at ^ source
    if at.size > 1 and (apart == apart[0]).all() and apart[0] & (apart[0] - 1) == 0:
        return f": {apart[0]} and the next {apart[0]} are exchanged"
    return ""


def _of_elements(wrong: Wrong) -> Symptom | None:
    came = wrong.got[wrong.beyond]
    values = wrong.values.reshape(-1)
    if not isinstance(wrong.right, Noisy) or not _is_several(came) or not np.isfinite(values).all():
        return None
    shown = came[came != 0]
    order = np.argsort(values)
    behind = np.clip(np.searchsorted(values[order], shown), 1, values.size - 1)
    low, high = order[behind - 1], order[behind]
    source = np.where(np.abs(values[low] - shown) <= np.abs(values[high] - shown), low, high)
    belongs = wrong.right.reshape(-1)[source]
    different = np.unique(shown, return_index=True)[1]
    share = _share(belongs[different], np.ptp(values), wrong) * np.unique(values).size
    if np.minimum(np.log(share), 0.0).sum() > math.log(CHANCE) or not wrong.holds(belongs, shown):
        return None
    at = np.flatnonzero(wrong.beyond)[came != 0]
    also_zero = ", or zero" if shown.size < came.size else ""
    general = "every wrong number is one that belongs elsewhere"
    return Symptom(Kind.MOVED, f"{general}{_distance(at, source)}{also_zero}", general=general)


def _of_inputs(wrong: Wrong) -> Symptom | None:
    """Numbers of the inputs, where right ones are as well: they are copied, from other places."""
    came, due = wrong.got[wrong.beyond], wrong.values[wrong.beyond].astype(wrong.got.dtype)
    if wrong.got.dtype.kind != "f" or not _is_several(came) or not _is_several(due):
        return None
    inputs = {name: array for name, array in wrong.inputs.items() if array.dtype == wrong.got.dtype}
    from_these = {name: bool(np.isin(came, array).any()) for name, array in inputs.items()}
    names = [name for name, is_from in from_these.items() if is_from]
    known = np.concatenate([inputs[name].reshape(-1) for name in names]) if names else came[:0]
    every = np.concatenate([array.reshape(-1) for array in inputs.values()]) if inputs else came[:0]
    if not (np.isin(came, [*known, 0]).all() and np.isin(due, every).all()):
        return None
    return Symptom(Kind.OTHER_ROWS, f"numbers of {' and '.join(names)}, but other ones than belong there")


def _is_several(numbers: Array) -> bool:
    """Whether they are numbers, of which enough differ from each other and from 0."""
    return bool(np.isfinite(numbers).all()) and np.unique(numbers[numbers != 0]).size >= _SEVERAL
