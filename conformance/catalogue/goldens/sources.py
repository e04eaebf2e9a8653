"""Where goldens come from: which there are, and how each is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from conformance import operations
from conformance.catalogue.cases import CASES, Case
from conformance.catalogue.cases.data import DATA
from conformance.catalogue.oracles import Confirmation
from conformance.catalogue.oracles.confirm import confirm
from conformance.limits.expectation import expect
from conformance.limits.measure import BIAS_ELEMENTS

from .names import file_of
from .tensors import Tensors, pack_expected, pack_inputs

# What is special about these data sets is not the values.
BY_SIZE = {
    "tails": "Sizes that are no multiple of 8, 16, 32 or 128, or just past a power of two.",
    "accumulate": "Added to what the output already holds.",
}


class Source(Protocol):
    """One golden in the making."""

    @property
    def id(self) -> str: ...
    @property
    def scenario(self) -> str: ...
    @property
    def generator(self) -> str: ...
    @property
    def seed(self) -> int: ...
    def inputs(self) -> Tensors:
        """What the generator gives now."""

    def make(self) -> tuple[Tensors, Confirmation | None]:
        """Everything that the file holds, and what an oracle says of it."""


@dataclass(frozen=True)
class CaseSource:
    """A case of the catalogue; large ones are not put before an oracle, which takes number by number."""

    case: Case
    asks_oracle: bool = True
    seed: int = 0

    @property
    def id(self) -> str:
        return self.case.id

    @property
    def generator(self) -> str:
        return f"case {self.case.data}"

    @property
    def scenario(self) -> str:
        return scenario(self.case)

    def inputs(self) -> Tensors:
        return pack_inputs(self.case.operation, self.case.arguments(self.seed))

    def make(self) -> tuple[Tensors, Confirmation | None]:
        arguments = self.case.arguments(self.seed)
        expected = expect(self.case.operation, arguments)
        confirmation = confirm(self.case.operation, arguments, expected) if self.asks_oracle else None
        return pack_inputs(self.case.operation, arguments) | pack_expected(expected), confirmation


def chosen(cases: Iterable[Case] | None = None) -> list[Case]:
    """For every operation, data set and reason the smallest case whose elements are enough to judge an average.

    Of a 16-bit operation, which has the cases of another, one of its first data set.
    """
    groups: dict[tuple[str, str, str], list[Case]] = {}
    first: dict[str, tuple[str, str]] = {}
    for case in CASES.values() if cases is None else cases:
        kind = (case.data, case.spec.why)
        if operations.is_sixteen_bit(case.operation) and first.setdefault(case.operation, kind) != kind:
            continue
        groups.setdefault((case.operation, case.data, case.spec.why), []).append(case)
    return [_smallest(group) for group in groups.values()]


def _smallest(cases: list[Case]) -> Case:
    """The smallest case with an output of so many elements; if none has one, that with the most input."""
    counts = [_elements(case) for case in cases]
    enough = [i for i, (_, _, most) in enumerate(counts) if most >= BIAS_ELEMENTS]
    if enough:
        return cases[min(enough, key=lambda i: counts[i][0] + counts[i][1])]
    return cases[max(range(len(cases)), key=lambda i: counts[i][0])]


def _elements(case: Case) -> tuple[int, int, int]:
    """How many elements a case is given, has to make, and has in its largest output, by the header's shapes."""
    function = operations.OPERATIONS[case.operation]

    def sizes(parameters: Iterable[Any]) -> list[int]:
        empty = {p.name: operations.fill(p, case.sizes, lambda shape: np.empty(shape, np.bool_)) for p in parameters}
        return [array.size for array in operations.flat(empty).values()]

    given, made = sizes(operations.read_arrays(function)), sizes(operations.written_arrays(function))
    return sum(given), sum(made), max(made)


def scenario(case: Case) -> str:
    """Say in a sentence or two why a case exists: the reason of its line, its data set, its special inputs."""
    spec, data = case.spec, BY_SIZE.get(case.data) or _first(DATA[case.data])
    if spec.why:
        data = f"{spec.why.replace('_', ' ').capitalize()}: {data[0].lower()}{data[1:]}"
    special = [f"{name}: {_first(maker)}" for name, maker in spec.inputs.items() if callable(maker) and maker.__doc__]
    return " ".join([data, *special, *([_first(spec.finish)] if spec.finish and spec.finish.__doc__ else [])])


def _first(function: Any) -> str:
    """The first line of a docstring."""
    return (function.__doc__ or "").strip().split("\n")[0]


def by_id(sources: Iterable[Source]) -> Mapping[str, Source]:
    """The sources by id; two goldens in one file are an error."""
    found: dict[str, Source] = {}
    files: dict[str, str] = {}
    for source in sources:
        other = files.setdefault(file_of(source.id).lower(), source.id)
        if other != source.id or source.id in found:
            raise ValueError(f"the goldens {other} and {source.id} would share a file")
        found[source.id] = source
    return found
