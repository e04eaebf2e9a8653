"""Readings made for single calls that are one slip with another number in each: where a run of a loop ends, say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from .diagnoses import Diagnosis

_NUMBER = re.compile(r"\b\d+\b")
_SHOWN = 3  # numbers that are said


class Alike(NamedTuple):
    """One slip: in words with the numbers that it has, the readings that are it, and in how many cases one holds."""

    words: str
    names: tuple[str, ...]
    holds: int


def alike(told: Sequence[Diagnosis]) -> Alike | None:
    """Return the slip that holds in most of the cases with some number; None where none is made with two of them."""
    made = [[name for name in one.readings if len(_NUMBER.findall(name)) == 1] for one in told if one.is_searched]
    counts = Counter(pattern for names in made for pattern in {_NUMBER.sub("{}", name) for name in names})
    for pattern, holds in counts.most_common():
        names = [next((name for name in each if _NUMBER.sub("{}", name) == pattern), "") for each in made]
        numbers = sorted({int(_NUMBER.findall(name)[0]) for name in names if name})
        if len(numbers) > 1:
            more = " and others" if len(numbers) > _SHOWN else ""
            said = f"{', '.join(map(str, numbers[:_SHOWN]))}{more}"
            known = (name for each in made for name in each if _NUMBER.sub("{}", name) == pattern)
            return Alike(pattern.format(said), tuple(dict.fromkeys(known)), holds)
    return None
