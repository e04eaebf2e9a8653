"""Describes a wrong output from its numbers alone: what stands there, and where."""

from __future__ import annotations

from collections.abc import Callable

from .altered import ALTERED, BY_LINES, clamped
from .contents import CONTENTS, flushed, kinds
from .failed import Wrong
from .formats import averages, computed_short, stored_short
from .moved import moved
from .parts import Part
from .places import places


def symptom(wrong: Wrong) -> str:
    """Return the first explanation that holds, from the simplest over everything to one for the wrong places alone."""
    if wrong.beyond.any() and (words := flushed(Part(wrong, wrong.beyond))):
        return words
    regions = places(wrong)
    for place in regions:
        if words := _explained(Part(wrong, place.at)):
            return _joined(words, place.words)
        if not place.words and (words := moved(wrong)):
            return words
    for place in regions:
        for explain in BY_LINES:
            if words := explain(Part(wrong, place.at)):
                return _joined(words, place.words)
    return _joined(_unexplained(wrong, Part(wrong, regions[-1].at)), regions[-1].words)


def _explained(part: Part) -> str:
    few = part.thinned()
    explanations: tuple[Callable[[Part], str], ...] = (*CONTENTS, *(ALTERED if part.is_telling else ()), stored_short)
    for explain in explanations:
        if (few is part or explain is clamped or explain(few)) and (words := explain(part)):
            return words
    return ""


def _unexplained(wrong: Wrong, part: Part) -> str:
    if not wrong.beyond.any():
        return averages(wrong) or computed_short(wrong) or "errors too large on the average"
    if not part.is_noisy:
        return "other values, of no simple pattern"
    return kinds(part) or computed_short(wrong) or "wrong numbers of no simple pattern"


def _joined(words: str, place: str) -> str:
    return ", ".join(filter(None, [words, place]))
