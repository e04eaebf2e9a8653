"""Describes a wrong output from its numbers alone: what stands there, and where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from conformance.judging.diagnoses import Kind, Symptom

from .altered import ALTERED, BY_LINES, clamped
from .contents import CONTENTS, flushed, kinds
from .failed import Wrong
from .formats import averages, computed_short, stored_short
from .moved import moved
from .parts import Part
from .places import places


def symptom(wrong: Wrong) -> Symptom:
    """Return the first explanation that holds, from the simplest over everything to one for the wrong places alone."""
    if wrong.holds(wrong.right):  # the verdict looks at the signs of zeros too, this does not
        return Symptom(Kind.SIGN_OF_ZERO, Kind.SIGN_OF_ZERO)
    if wrong.beyond.any() and (found := flushed(Part(wrong, wrong.beyond))):
        return found
    regions = places(wrong)
    for place in regions:
        if found := _explained(Part(wrong, place.at)):
            return replace(found, place=place.words)
        if not place.words and (found := moved(wrong)):
            return found
    for place in regions:
        for explain in BY_LINES:
            if found := explain(Part(wrong, place.at)):
                return replace(found, place=place.words)
    return replace(_unexplained(wrong, Part(wrong, regions[-1].at)), place=regions[-1].words)


def _explained(part: Part) -> Symptom | None:
    few = part.thinned()
    altered = ALTERED if part.is_telling else ()
    explanations: tuple[Callable[[Part], Symptom | None], ...] = (*CONTENTS, *altered, stored_short)
    for explain in explanations:
        if (few is part or explain is clamped or explain(few)) and (found := explain(part)):
            return found
    return None


def _unexplained(wrong: Wrong, part: Part) -> Symptom:
    if not wrong.beyond.any():
        return averages(wrong) or computed_short(wrong) or Symptom(Kind.AVERAGE, Kind.AVERAGE)
    if not part.is_noisy:
        return Symptom(Kind.NO_PATTERN, "other values, of no simple pattern")
    return kinds(part) or computed_short(wrong) or Symptom(Kind.NO_PATTERN, Kind.NO_PATTERN)
