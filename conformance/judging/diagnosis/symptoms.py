"""Describes a wrong output from its numbers alone: what stands there, and where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from conformance.judging.diagnoses import NO_PATTERN, Kind, Symptom

from .altered import ALTERED, BY_LINES, at_a_limit, clamped
from .chosen import chosen
from .contents import CONTENTS, flushed, kinds
from .elsewhere import elements_elsewhere, lines_elsewhere, lines_of_others
from .failed import Wrong
from .formats import averages, computed_short, digits, neighbours, stored_short
from .moved import moved, wrapped
from .parts import Part
from .places import places
from .sides import flushed_in_sums, one_side, side_of_counts, sides_of_few
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
    if found := lines_elsewhere(wrong) or lines_of_others(wrong):
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
            return replace(found, also=(*found.also, *at_a_limit(part), *side_of_counts(part)))
    return None


def _unexplained(wrong: Wrong, part: Part) -> Symptom:
    if not wrong.beyond.any():
        return averages(wrong) or computed_short(wrong) or Symptom(Kind.AVERAGE, Kind.AVERAGE)
    if not part.is_noisy:
        return chosen(part) or one_side(part) or Symptom(Kind.NO_PATTERN, f"other values, {NO_PATTERN}")
    found = specials(Part(wrong, wrong.beyond)) or kinds(part)
    if found:
        return found
    if found := neighbours(part) or flushed_in_sums(part):
        return found
    short, right, sides = computed_short(wrong), digits(part), sides_of_few(part)
    if short and right:  # the cases together tell which it is
        return replace(short, also=(*short.also, right.words, *right.also, *sides))
    if found := short or right:
        return replace(found, also=(*found.also, *sides))
    return one_side(part) or Symptom(Kind.NO_PATTERN, Kind.NO_PATTERN, also=sides)
