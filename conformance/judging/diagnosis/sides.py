"""To which side all errors lie: what is left out of a sum, or comes into it twice, shows so."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from conformance.judging.diagnoses import TOO, Kind, Symptom

from .numbers import CHANCE
from .parts import Part


def one_side(part: Part) -> Symptom | None:
    """Every wrong number is too large, too small, too near to zero or too far from it; of whole numbers by how many."""
    if not part.is_noisy or not part.usable.all() or 2.0 ** (1 - part.got.size) * 4 > CHANCE:
        return _whole(part)
    said = [f"every wrong number is {TOO} {words}" for words in _sides(part)]
    return Symptom(Kind.ONE_SIDE, said[0], also=tuple(said[1:])) if said else None


def _sides(part: Part) -> Iterator[str]:
    error, outwards = part.error, part.error * np.sign(part.values)
    for words, size in (("large", error), ("small", -error), ("near to zero", -outwards), ("far from zero", outwards)):
        if (size > 0).all():
            yield words


def _whole(part: Part) -> Symptom | None:
    """Counts that are off by whole numbers, all to one side: of few even that is something."""
    if (
        not part.usable.all()
        or not part.got.size
        or (part.values % 1).any()
        or (part.got % 1).any()
        or not part.values.any()
    ):
        return None
    low, high = float(part.error.min()), float(part.error.max())
    if low <= 0 <= high:
        return None
    side, sizes = ("large", (low, high)) if low > 0 else ("small", (-high, -low))
    reach = f"{sizes[0]:g}" if sizes[0] == sizes[1] else f"{sizes[0]:g} to {sizes[1]:g}"
    words = f"every wrong number is {TOO} {side}, by a whole number"
    return Symptom(Kind.ONE_SIDE, f"{words}: {reach}", general=words, also=(words,)) if math.isfinite(high) else None
