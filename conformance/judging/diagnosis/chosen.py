"""Which entries of an input's rows came where indices of others are due: later ones, larger ones, the last of a row."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from conformance.judging.diagnoses import NO_PATTERN, Kind, Symptom

from .failed import Array
from .parts import Part


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
        said = list(_said(name, rows[line, part.got], rows[line, due], part.got - due, part.got == size - 1))
        if said:
            return Symptom(Kind.CHOSEN, f"other entries of {name}: {said[0]}", general=f"other entries of {name}",
                           also=tuple(f"other entries of {name}: {words}" for words in said[1:]))  # fmt: skip
        return Symptom(Kind.CHOSEN, f"other entries of {name}, {NO_PATTERN}", general=f"other entries of {name}")
    return None


def _rows(part: Part) -> Iterator[tuple[str, Array]]:
    """For each place the row of an input that it may be an index into: one for each, or for each row of the output."""
    shape, at = part.wrong.got.shape, np.nonzero(part.at)
    for name, array in part.wrong.inputs.items():
        if array.dtype.kind == "f" and array.ndim > 1 and array.shape[:-1] in (shape, shape[:-1]):
            yield name, array[at[: array.ndim - 1]].reshape(part.got.size, -1)


def _said(name: str, came: Array, due: Array, later: Array, is_last: Array) -> Iterator[str]:
    """What is so of every one of them, the most particular first."""
    with np.errstate(invalid="ignore"):
        tests = {
            f"those where {name} is minus infinity": np.isneginf(came) & ~np.isneginf(due),
            f"those where {name} is NaN": np.isnan(came) & ~np.isnan(due),
            f"numbers where NaN of {name} is due": np.isnan(due) & ~np.isnan(came),
            "others of equal ones": came == due,
            "the last of each row": is_last,
            "larger ones": came > due,
            "smaller ones": came < due,
            "later ones": later > 0,
            "earlier ones": later < 0,
        }
    yield from (words for words, holds in tests.items() if holds.all())
