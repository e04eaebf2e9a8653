"""The catalogue: every case of every operation, by id; an operation's are made when they are first looked at."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

from conformance.catalogue.families import specs
from conformance.ids import is_designed, operation_of
from conformance.operations import OPERATIONS

from .designed import designed
from .refusals import Refusal, refusals
from .sequences import CallSequence, sequences, with_other_numbers
from .spec import Case, Spec

__all__ = [
    "CASES",
    "DESIGNED",
    "REFUSALS",
    "SEQUENCES",
    "CallSequence",
    "Case",
    "Refusal",
    "case_named",
    "case_of",
    "previous",
    "with_other_numbers",
]

Value = TypeVar("Value")


class _ByOperation(Mapping[str, Value], Generic[Value]):
    """A mapping by id, in the order of the families; most commands need but a few operations' part of it."""

    def __init__(self, make: Callable[[str], Mapping[str, Value]]) -> None:
        self._make = functools.cache(make)

    def of(self, operation: str) -> Mapping[str, Value]:
        """Return those of one operation; none for what is no operation."""
        return self._make(operation)

    def among(self, operations: Collection[str]) -> Iterator[str]:
        """Yield the ids of these operations."""
        for operation in _specs():
            if operation in operations:
                yield from self._make(operation)

    def __getitem__(self, id: str) -> Value:
        return self._make(operation_of(id))[id]

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and id in self._make(operation_of(id))

    def __iter__(self) -> Iterator[str]:
        return self.among(_specs())

    def __len__(self) -> int:
        return sum(1 for _ in self)


@functools.cache
def _specs() -> Mapping[str, Sequence[Spec]]:
    found: dict[str, list[Spec]] = {}
    for spec in specs():
        found.setdefault(spec.operation, []).append(spec)
    return found


def cases_of(operation: str) -> Mapping[str, Case]:
    """Every case of an operation, by id.  Two cases with one id are an error."""
    return _by_id(case for spec in _specs().get(operation, ()) for case in spec.cases())


def _designed(operation: str) -> Mapping[str, Case]:
    """Every designed case of an operation."""
    return _by_id(designed(operation)) if operation in OPERATIONS else {}


def _by_id(cases: Iterable[Case]) -> Mapping[str, Case]:
    found: dict[str, Case] = {}
    for case in cases:
        if case.id in found:
            raise ValueError(f"two cases are called {case.id}")
        found[case.id] = case
    return found


def case_of(id: str) -> Case:
    """Return the case of an id, designed or not.  Raises KeyError where there is none."""
    return (DESIGNED if is_designed(id) else CASES)[id]


def case_named(id: str) -> Case | None:
    """Return the case of an id likewise; nothing where there is none."""
    return (DESIGNED if is_designed(id) else CASES).get(id)


def _refused(operation: str) -> Mapping[str, Refusal]:
    """Every call of an operation that must be refused."""
    cases = [*CASES.of(operation).values()]
    return {refusal.id: refusal for refusal in refusals(cases)} if cases else {}


def _sequenced(operation: str) -> Mapping[str, CallSequence]:
    """Every sequence of calls of an operation."""
    cases = CASES.of(operation).values()
    return {one.id: one for one in sequences(cases, REFUSALS.of(operation).values())} if cases else {}


@functools.cache
def _previous(operation: str) -> Mapping[str, Case]:
    return {case.id: before for before, case in itertools.pairwise(CASES.of(operation).values())}


def previous(case: Case) -> Case | None:
    """Return the case of the same operation that stands before it in the catalogue."""
    return _previous(case.operation).get(case.id)


CASES = _ByOperation(cases_of)
DESIGNED = _ByOperation(_designed)  # judged where they are asked for
REFUSALS = _ByOperation(_refused)
SEQUENCES = _ByOperation(_sequenced)
