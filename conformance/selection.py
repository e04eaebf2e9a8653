"""Which cases and steps a run is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .cases import CASES, REFUSALS
from .steps import STEPS

CALLS_A_STEP = 110  # what a step of the tiny model comes to; for the progress bar only


@dataclass(frozen=True)
class Selection:
    """Ids of the catalogue, names of steps, and the words or ids that chose them."""

    cases: tuple[str, ...]
    steps: tuple[str, ...]
    words: tuple[str, ...]
    ids: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.cases or self.steps)

    @property
    def is_whole(self) -> bool:
        """Whether nothing was left out."""
        return not self.words and not self.ids

    @property
    def expected(self) -> int:
        """About how many results there will be."""
        return len(self.cases) + CALLS_A_STEP * sum(3 if "free" in step else 1 for step in self.steps)

    def wants(self, id: str) -> bool:
        """Whether a result is one that was asked for: of a step, perhaps one call only."""
        if self.ids:
            return any(id == wanted or id.startswith((f"{wanted}/", f"{wanted} ")) for wanted in self.ids)
        return all(word in id for word in self.words)


def select(words: str = "", ids: Sequence[str] = ()) -> Selection:
    """Choose by exact ids, or else by words that an id must all hold.

    A step is run as a whole: an id of one of its calls, or a word that names an operation, chooses among its results.
    """
    every = (*CASES, *REFUSALS)
    if ids:
        steps = tuple(step for step in STEPS if any(id == step or id.startswith(f"{step}/") for id in ids))
        return Selection(tuple(id for id in ids if id in CASES or id in REFUSALS), steps, (), tuple(ids))
    parts = tuple(words.split())
    cases = tuple(id for id in every if all(word in id for word in parts))
    steps = STEPS if not parts else tuple(step for step in STEPS if any(part in step for part in parts))
    return Selection(cases, steps, parts, ())
