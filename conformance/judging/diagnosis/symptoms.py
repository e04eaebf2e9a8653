"""Describes a wrong output from its numbers alone: what stands there, and where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from conformance.judging.diagnoses import NO_PATTERN, Kind, Symptom

from .altered import ALTERED, BY_LINES, clamped
from .chosen import chosen
from .contents import CONTENTS, flushed, flushed_sums, kinds
from .elsewhere import elements_elsewhere, lines_elsewhere
from .failed import Wrong
from .formats import averages, computed_short, digits, neighbours, stored_short
from .moved import moved, wrapped
from .parts import Part
from .places import places
from .sides import one_side
from .specials import specials


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
    if found := lines_elsewhere(wrong):
        return replace(found, place=regions[-1].words)
    for place in regions:
        if by_lines := [one for explain in BY_LINES if (one := explain(Part(wrong, place.at)))]:
            return replace(by_lines[0], place=place.words, also=tuple(one.general for one in by_lines))
    if found := elements_elsewhere(wrong):
        return replace(found, place=regions[-1].words)
    return replace(_unexplained(wrong, Part(wrong, regions[-1].at)), place=regions[-1].words)


_OF_ALL = (clamped, wrapped)  # which look at more than some places


def _explained(part: Part) -> Symptom | None:
    few = part.thinned()
    altered = ALTERED if part.is_telling else ()
    explanations: tuple[Callable[[Part], Symptom | None], ...] = (*CONTENTS, wrapped, *altered, stored_short)
    for explain in explanations:
        if (few is part or explain in _OF_ALL or explain(few)) and (found := explain(part)):
            return found
    return None


def _unexplained(wrong: Wrong, part: Part) -> Symptom:
    if not wrong.beyond.any():
        return averages(wrong) or computed_short(wrong) or Symptom(Kind.AVERAGE, Kind.AVERAGE)
    if not part.is_noisy:
        return chosen(part) or one_side(part) or Symptom(Kind.NO_PATTERN, f"other values, {NO_PATTERN}")
    of_wrong = Part(wrong, wrong.beyond)
    if found := flushed_sums(of_wrong) or specials(of_wrong) or kinds(part):
        return found
    if found := neighbours(part):
        return found
    short, right = computed_short(wrong), digits(part)
    if short and right:  # the cases together tell which it is
        return replace(short, also=(*short.also, right.words, *right.also))
    return short or right or one_side(part) or Symptom(Kind.NO_PATTERN, Kind.NO_PATTERN)
