"""The right values in the wrong places: axes exchanged, reversed, shifted, permuted."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from conformance.judging.diagnoses import Kind, Symptom

from .failed import Array, Wrong
from .parts import Part

_SHIFTS = (1, -1, 2, -2)
_WRAPS = range(5, 18)  # powers of two that an index may wrap at


def moved(wrong: Wrong) -> Symptom | None:
    """Say how all the right values were moved, or nothing."""
    everywhere = Part(wrong, np.ones(wrong.got.shape, bool))
    if wrong.got.size < 3 or not _varies(wrong.values) or not everywhere.is_telling:
        return None
    for words, explained in itertools.chain(_axes_exchanged(wrong), _reversed(wrong), _permuted(wrong)):
        if wrong.holds(explained):
            return Symptom(Kind.MOVED, words)
    return _shifted(wrong)


def wrapped(part: Part) -> Symptom | None:
    """Each place holds what belongs to its index modulo a power of two, along an axis or of all elements."""
    wrong, shape = part.wrong, part.wrong.got.shape
    if not part.is_telling or not _varies(wrong.values) or part.at.all():
        return None
    flat = np.flatnonzero(part.at)
    axes = [(name, shape[axis], math.prod(shape[axis + 1 :])) for axis, name in enumerate(wrong.axes)]
    for name, count, stride in (*axes, *([("element", wrong.got.size, 1)] if len(axes) > 1 else [])):
        index = flat // stride % count
        for modulus in (2**n for n in _WRAPS if 2**n <= index.min()):
            source = flat + (index % modulus - index) * stride
            if part.holds(wrong.right.reshape(-1)[source]):
                return Symptom(Kind.MOVED, f"what belongs to the {name} modulo {modulus}")
    return None


def _varies(values: Array) -> bool:
    return bool((values != values.flat[0]).any())


def _axes_exchanged(wrong: Wrong) -> Iterator[tuple[str, Any]]:
    """Stored in another order of the axes; or read so, which is the inverse."""
    shape = wrong.got.shape
    for order in itertools.permutations(range(len(shape))):
        if order != tuple(range(len(shape))):
            names = ", ".join(wrong.axes[a] for a in order)
            words = "transposed" if len(shape) == 2 else f"stored with its axes in the order {names}"
            yield words, wrong.right.transpose(*order).reshape(shape)
    if len(shape) == 2 and shape[0] != shape[1]:
        yield "taken for its transpose", wrong.right.reshape(shape[::-1]).transpose(1, 0)


def _reversed(wrong: Wrong) -> Iterator[tuple[str, Any]]:
    for axis, name in enumerate(wrong.axes):
        if wrong.got.shape[axis] > 1:
            yield f"in reverse order along {_axis(name)}", np.flip(wrong.right, axis)


def _permuted(wrong: Wrong) -> Iterator[tuple[str, Any]]:
    """Rows, columns, or all elements in another order, found by sorting both."""
    if np.isnan(wrong.got).any() if wrong.got.dtype.kind == "f" else False:
        return
    got, values = wrong.got, wrong.values
    if got.ndim == 2:
        for axis, name in enumerate(wrong.axes):
            wanted, came = (
                np.lexsort(np.moveaxis(a, axis, -1).reshape(-1, a.shape[axis])[::-1]) for a in (values, got)
            )
            place = np.empty_like(came)
            place[came] = wanted
            yield f"the right {name}s in another order", np.take(wrong.right, place, axis=axis)
    wanted, came = np.argsort(values, axis=None, kind="stable"), np.argsort(got, axis=None, kind="stable")
    place = np.empty_like(came)
    place[came] = wanted
    yield "the right values in other places", np.take(wrong.right.reshape(-1), place).reshape(got.shape)


def _matched(wanted: Array, came: Array) -> Array:
    """For each place, the place from which its value comes, given the ascending orders of both."""
    place = np.empty_like(came)
    place[came] = wanted
    return place


def _shifted(wrong: Wrong) -> Symptom | None:
    """Each place holds what belongs to a neighbour; what came in at the edge is not looked at."""
    for axis, by in itertools.product(reversed(range(wrong.got.ndim)), _SHIFTS):
        if wrong.got.shape[axis] <= abs(by) + 1:
            continue
        kept, source = (slice(by, None), slice(None, -by)) if by > 0 else (slice(None, by), slice(-by, None))
        before = (slice(None),) * axis
        came = wrong.got[(*before, kept)]
        if wrong.holds(wrong.right[(*before, source)], came) and not wrong.holds(wrong.right[(*before, kept)], came):
            side = "before" if by > 0 else "behind"
            words = f"shifted: each {_axis(wrong.axes[axis])} holds what belongs {abs(by)} {side}"
            return Symptom(Kind.MOVED, words)
    return None


def _axis(name: str) -> str:
    return name if name in ("row", "column", "element") else f"entry of {name}"
