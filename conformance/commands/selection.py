"""Which cases and steps a run is about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from conformance.candidates.files import answerable
from conformance.catalogue.cases import CASES, REFUSALS
from conformance.catalogue.keywords import Keywords
from conformance.judging.probes import probe_ids
from conformance.steps import STEP_CASES, STEPS

CALLS_A_STEP = 110  # what a step of the tiny model comes to; for the progress bar only


@dataclass(frozen=True)
class Selection:
    """Ids of the catalogue, names of steps, and what chose them."""

    cases: tuple[str, ...]
    steps: tuple[str, ...]
    keywords: Keywords
    ids: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.cases or self.steps)

    @property
    def is_whole(self) -> bool:
        """Whether nothing was left out."""
        return not self.keywords and not self.ids

    @property
    def expected(self) -> int:
        """About how many results there will be."""
        return len(self.cases) + CALLS_A_STEP * sum(STEP_CASES[step].steps for step in self.steps)

    def wants(self, id: str) -> bool:
        """Whether a result is one that was asked for: of a step, perhaps one call only."""
        named = any(id == wanted or id.startswith((f"{wanted}/", f"{wanted} ")) for wanted in self.ids)
        return (named or not self.ids) and self.keywords.matches(id)


def select(keywords: Keywords, ids: Sequence[str] = ()) -> Selection:
    """Choose by keywords, among exact ids if any are given.

    A step is run as a whole: an id of one of its calls, or a word that names an operation, chooses among its results.
    """
    if ids:
        asked = set(ids)
        cases = [id for id in ids if id in CASES or id in REFUSALS or id in probe_ids(lambda one: one in asked)]
        steps = [step for step in STEPS if any(_is_meant(step, id, keywords) for id in ids)]
    else:
        cases = [*CASES, *REFUSALS, *probe_ids(keywords.matches)]
        steps = [step for step in STEPS if keywords.could_match_within(step)]
    chosen = dict.fromkeys(id for id in cases if keywords.matches(id))
    return Selection(tuple(chosen), tuple(steps), keywords, tuple(ids))


def _is_meant(step: str, id: str, keywords: Keywords) -> bool:
    """Whether an id is the step's own or one of its calls', and the keywords leave it in."""
    if id == step:
        return keywords.could_match_within(step)
    return id.startswith(f"{step}/") and keywords.matches(id)


def select_goldens(keywords: Keywords, ids: Iterable[str] = ()) -> Selection:
    """Choose among the goldens as `select` does among all cases."""
    wanted = set(ids)
    found = tuple(id for id in answerable() if keywords.matches(id) and (id in wanted or not wanted))
    return Selection(found, (), keywords, tuple(ids))
