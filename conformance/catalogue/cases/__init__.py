"""The catalogue: every case of every operation, by id; made when it is first looked at."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

from conformance.catalogue.families import specs

from .refusals import Refusal, refusals
from .spec import Case

__all__ = ["CASES", "REFUSALS", "Case", "Refusal", "previous"]

Held = TypeVar("Held")


class _Late(Mapping[str, Held], Generic[Held]):
    """A mapping that is made when it is first looked at: most commands need but a part of the catalogue."""

    def __init__(self, make: Callable[[], Mapping[str, Held]]) -> None:
        self._make = functools.cache(make)

    def __getitem__(self, id: str) -> Held:
        return self._make()[id]

    def __contains__(self, id: object) -> bool:
        return id in self._make()

    def __iter__(self) -> Iterator[str]:
        return iter(self._make())

    def __len__(self) -> int:
        return len(self._make())


def catalogue() -> Mapping[str, Case]:
    """Every case, in the order of the families.  Two cases with one id are an error."""
    cases: dict[str, Case] = {}
    for spec in specs():
        for case in spec.cases():
            if case.id in cases:
                raise ValueError(f"two cases are called {case.id}")
            cases[case.id] = case
    return cases


def _refused() -> Mapping[str, Refusal]:
    """Every call that must be refused."""
    by_operation: dict[str, list[Case]] = {}
    for case in CASES.values():
        by_operation.setdefault(case.operation, []).append(case)
    return {r.id: r for few in by_operation.values() for r in refusals(few[:4])}


@functools.cache
def _previous() -> Mapping[str, Case]:
    last: dict[str, Case] = {}
    found = {}
    for case in CASES.values():
        if case.operation in last:
            found[case.id] = last[case.operation]
        last[case.operation] = case
    return found


def previous(case: Case) -> Case | None:
    """Return the case of the same operation that stands before it in the catalogue."""
    return _previous().get(case.id)


CASES: Mapping[str, Case] = _Late(catalogue)
REFUSALS: Mapping[str, Refusal] = _Late(_refused)
