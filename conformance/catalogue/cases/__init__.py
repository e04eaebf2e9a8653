"""The catalogue: every case of every operation, by id."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.catalogue.families import specs

from .refusals import Refusal, refusals
from .spec import Case

__all__ = ["CASES", "REFUSALS", "Case", "Refusal"]


def catalogue() -> Mapping[str, Case]:
    """Return every case by id, in the order of the families.  Two cases with one id are an error."""
    cases: dict[str, Case] = {}
    for spec in specs():
        for case in spec.cases():
            if case.id in cases:
                raise ValueError(f"two cases are called {case.id}")
            cases[case.id] = case
    return cases


def refused(cases: Mapping[str, Case]) -> Mapping[str, Refusal]:
    """Return every call that must be refused, by id."""
    by_operation: dict[str, list[Case]] = {}
    for case in cases.values():
        by_operation.setdefault(case.operation, []).append(case)
    return {r.id: r for few in by_operation.values() for r in refusals(few[:4])}


CASES = catalogue()
REFUSALS = refused(CASES)
