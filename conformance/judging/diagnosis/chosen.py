"""Which entries of an input's rows came where indices of others are due: later ones, larger ones, the last of a row."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from conformance import operations
from conformance.judging.diagnoses import NO_PATTERN, Kind, Symptom

from .failed import Array
from .parts import Part

_PLACES = _LATER, _EARLIER = "later ones", "earlier ones"


def chosen(part: Part) -> Symptom | None:
    """What the wrong indices have in common, of an output that holds indices into the rows of an input of floats."""
    if part.got.dtype.kind != "i" or not part.got.size:
        return None
    for name, rows in _rows(part):
        size = rows.shape[-1]
        due = np.asarray(part.values).astype(np.int64)
        if min(due.min(), part.got.min()) < 0 or max(due.max(), part.got.max()) >= size:
            continue
        line = np.arange(len(rows))
        found = _said(name, rows[line, part.got], rows[line, due], part.got - due, part.got == size - 1)
        other = f"other entries of {name}"
        words = [f"{other}: {said}" for said in _joined(list(found))] or [f"{other}, {NO_PATTERN}"]
        return Symptom(Kind.CHOSEN, words[0], general=other, also=tuple(words[1:]))
    return None


def _joined(found: list[str]) -> list[str]:
    """Where they lie and what they are in one line, then each by itself: another case may tell them apart."""
    where = [words for words in found if words in _PLACES]
    what = [words for words in found if words not in _PLACES]
    return [f"{where[0]}, {what[0]}", *found] if what and where else found


def _rows(part: Part) -> Iterator[tuple[str, Array]]:
    """For each place what it may be an index into: the rest of an input, in a row, behind the axes that both have."""
    function, at = operations.OPERATIONS[part.wrong.call.operation], np.nonzero(part.at)
    own = [axis.text for axis in part.wrong.parameter.shape]
    for name, array in part.wrong.inputs.items():
        axes = [axis.text for axis in operations.declared(function, name).shape]
        shared = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(axes, own, strict=False)))
        if array.dtype.kind == "f" and 0 < shared < array.ndim == len(axes):
            yield name, array.reshape(*array.shape[:shared], -1)[at[:shared]]


def _said(name: str, came: Array, due: Array, later: Array, is_last: Array) -> Iterator[str]:
    """What is so of every one of them, the most particular first."""
    with np.errstate(invalid="ignore"):
        tests = {
            f"numbers where NaN of {name} is due": np.isnan(due) & ~np.isnan(came),
            f"those where {name} is minus infinity": np.isneginf(came) & ~np.isneginf(due),
            f"those where {name} is NaN": np.isnan(came) & ~np.isnan(due),
            "others of equal ones": came == due,
            "the last of each row": is_last,
            "larger ones": came > due,
            "smaller ones": came < due,
            _LATER: later > 0,
            _EARLIER: later < 0,
        }
    yield from (words for words, holds in tests.items() if holds.all())
