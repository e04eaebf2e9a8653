"""Judges operations by their goldens, and finds the two arguments that one which fails takes for each other."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bindings.header.records import Function
from conformance.catalogue.goldens import golden_ids
from conformance.catalogue.goldens.load import Golden, load
from conformance.ids import operation_of
from conformance.judging.outputs import judge_outputs
from conformance.operations import OPERATIONS

from .calls import Answer, Caller
from .stack import Stack, lay_out

Order = tuple[str, ...]
_TRIED = 2.0  # seconds that a call with other arguments than it declares may take: most crash at once


@dataclass
class Judged:
    """One operation; `swaps`: each exchange of arguments by which every call of it is right."""

    operation: str
    cases: int = 0
    passed: int = 0
    is_absent: bool = False
    first: str = ""  # the first failure: its case, and what is wrong
    swaps: list[str] = field(default_factory=list)

    @property
    def sentence(self) -> str:
        """What is wrong, in one line; nothing where it is right."""
        if not self.first:
            return ""
        if not self.swaps:
            return f"{self.operation}: {self.first}; no exchange of two arguments makes it right"
        return f"{self.operation}: {' or '.join(self.swaps)}"


def judge_operation(operation: str, caller: Caller) -> Judged:
    """Make every golden's call of an operation, and where one is wrong look for the exchange that makes all right."""
    found = Judged(operation)
    function = OPERATIONS[operation]
    declared = tuple(parameter.name for parameter in function.parameters)
    goldens = [golden for id in golden_ids() if operation_of(id) == operation and (golden := load(id))]
    calls = [(lay_out(operation, golden.arguments), declared) for golden in goldens]
    answers = list(caller.call(function.symbol, calls))
    if any(answer.is_absent for answer in answers):
        return Judged(operation, is_absent=True)
    wrong = {i: said for i, golden in enumerate(goldens) if (said := _wrong(golden, operation, answers[i]))}
    found.cases, found.passed = len(goldens), len(goldens) - len(wrong)
    if wrong:
        first = next(iter(wrong))
        found.first = f"{goldens[first].id}: {wrong[first]}"
        found.swaps = _mending([(goldens[i], calls[i][0]) for i in wrong], operation, caller)
    return found


def _mending(failed: Sequence[tuple[Golden, Stack]], operation: str, caller: Caller) -> list[str]:
    """Say by which exchanges every call that failed is right: what mends the first is tried on the next."""
    function = OPERATIONS[operation]
    left = list(_orders(function))
    for golden, stack in failed:
        answers = caller.call(function.symbol, [(stack, order) for _, order in left], _TRIED)
        left = [each for each, answer in zip(left, answers, strict=True) if not _wrong(golden, operation, answer)]
        if not left:
            break
    return [words for words, _ in left]


def _wrong(golden: Golden, operation: str, answer: Answer) -> str:
    if answer.results is None:
        return answer.problem
    verdicts = judge_outputs(operation, golden.arguments, golden.expected, answer.results)
    return next((f"{verdict.output}: {verdict.reason}" for verdict in verdicts if not verdict.passed), "")


def _orders(function: Function) -> Iterator[tuple[str, Order]]:
    """Yield every exchange of two arguments, then every argument in another place, and how the header has them."""
    names = [parameter.name for parameter in function.parameters]
    said = {p.name: f"{place} `{p.declaration}`" for place, p in enumerate(function.parameters, start=1)}
    seen = {tuple(names)}
    for i, j in itertools.combinations(range(len(names)), 2):
        swapped = [*names]
        swapped[i], swapped[j] = swapped[j], swapped[i]
        seen.add(tuple(swapped))
        yield f"takes arguments {said[names[i]]} and {said[names[j]]} for each other", tuple(swapped)
    for i, j in itertools.permutations(range(len(names)), 2):
        rest = names[:i] + names[i + 1 :]
        moved = (*rest[:j], names[i], *rest[j:])
        if moved not in seen:
            seen.add(moved)
            yield f"takes argument {said[names[i]]} as argument {j + 1}", moved
