"""Chooses whose evidence is kept.

Of each operation and of each training step that is the evidence of some failures, the worst among them, and of the
passing case that used most of its limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .evidence import gather
from .results import Result, worst

FAILURES = 4


class EvidenceSelector:
    """Gathers evidence while a run goes on, of the results that are worth it so far."""

    def __init__(self) -> None:
        self._failures: dict[str, int] = {}
        self._most: dict[tuple[str, bool], float] = {}

    def attach(
        self, result: Result, expected: Callable[[], Mapping[str, Any]], got: Mapping[str, Any], zeros: bool = False
    ) -> Result:
        """Return the result, with the evidence of its worst output if that is worth keeping.

        expected: gives what the outputs were held against; zeros: whether the sign of a zero counts.
        """
        verdict = worst(result.verdicts)
        if verdict is None or not self._wants(result):
            return result
        wanted = expected()[verdict.output]
        return replace(result, evidence=gather(verdict, wanted, got[verdict.output], zeros))

    def _wants(self, result: Result) -> bool:
        key = result.part, result.is_fine
        before = self._most.get(key, -1.0)
        self._most[key] = max(result.share, before)
        if not result.is_fine:
            self._failures[result.part] = self._failures.get(result.part, 0) + 1
        return result.share > before or (not result.is_fine and self._failures[result.part] <= FAILURES)


def without_surplus(results: Iterable[Result]) -> list[Result]:
    """Take the evidence from results that need none: several processes have each chosen for themselves."""
    chosen = list(results)
    places: dict[tuple[str, bool], list[int]] = {}
    for place, result in enumerate(chosen):
        if result.evidence:
            places.setdefault((result.part, result.is_fine), []).append(place)
    for (_, fine), some in places.items():
        for place in set(some) - set(_worth_keeping(chosen, some, fine)):
            chosen[place] = replace(chosen[place], evidence=None)
    return chosen


def _worth_keeping(results: Sequence[Result], places: Sequence[int], fine: bool) -> list[int]:
    worst = max(places, key=lambda place: results[place].share)
    return [worst] if fine else [worst, *(place for place in places if place != worst)][:FAILURES]
