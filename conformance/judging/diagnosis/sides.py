"""To which side all errors lie: what is left out of a sum, or comes into it twice, shows so."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from conformance.judging.diagnoses import TOO, Kind, Symptom
from conformance.limits.noise import FLOAT32

from .numbers import CHANCE
from .parts import Part

_SOME = 8  # so many times the smallest normal number flushed terms may be off together
_LARGER = 4  # sums are so many times as large as what they are off by


def one_side(part: Part) -> Symptom | None:
    """Every wrong number is too large, too small, too near to zero or too far from it; of whole numbers by how many."""
    if not part.is_noisy or not part.usable.all() or 2.0 ** (1 - part.got.size) * 4 > CHANCE:
        return _whole(part)
    said = [f"every wrong number is {TOO} {words}" for words in _sides(part)]
    return Symptom(Kind.ONE_SIDE, said[0], also=tuple(said[1:])) if said else None


def flushed_in_sums(part: Part) -> Symptom | None:
    """Errors as small as the numbers that are subnormal in float32, of sums that are no such numbers themselves."""
    least = FLOAT32.smallest
    if not part.is_noisy or part.wrong.smallest != least or not part.usable.all() or not part.got.size:
        return None
    largest = float(np.abs(part.error).max())
    if not least / _SOME <= largest <= _SOME * least or np.abs(part.values).max() < _LARGER * largest:
        return None
    words = "errors as small as subnormal numbers: some in a sum are taken for zero"
    return Symptom(Kind.FLUSHED, words)


def sides_of_few(part: Part) -> tuple[str, ...]:
    """The sides to which all errors of some numbers lie, too few to tell alone: other cases may bear them out."""
    is_some = part.is_noisy and part.usable.all() and part.got.size > 1
    return tuple(f"every wrong number is {TOO} {words}" for words in _sides(part)) if is_some else ()


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
    plain = f"every wrong number is {TOO} {side}"
    words = f"{plain}, by a whole number"
    also = (words, plain)
    return Symptom(Kind.ONE_SIDE, f"{words}: {reach}", general=words, also=also) if math.isfinite(high) else None


def side_of_counts(part: Part) -> tuple[str, ...]:
    """The side to which all of some counts lie, whatever else they look like."""
    found = _whole(part)
    return found.also[1:] if found else ()
