"""Judges operations by their goldens; of one that fails finds the arguments taken for each other, or by address."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from conformance.catalogue.goldens import golden_ids
from conformance.catalogue.goldens.load import Golden, load
from conformance.catalogue.keywords import Keywords
from conformance.ids import operation_of
from conformance.judging.outputs import judge_outputs
from conformance.operations import OPERATIONS

from .calls import Answer, Caller
from .orders import Order, by_address, exchanges
from .stack import Stack, lay_out

EVERY = Keywords()
_TRIED = 2.0  # seconds that a call with other arguments than it declares may take: most crash at once


@dataclass
class Judged:
    """One operation; `swaps`: each exchange of arguments by which every call of it is right.

    by_address: the fewest arguments that make it so where their addresses are passed.
    """

    operation: str
    cases: int = 0
    passed: int = 0
    is_absent: bool = False
    first: str = ""  # the first failure: its case, and what is wrong
    swaps: list[str] = field(default_factory=list)
    by_address: list[str] = field(default_factory=list)

    @property
    def is_right(self) -> bool:
        """Whether it was called, and every call was right."""
        return self.cases > 0 and not self.first

    @property
    def sentence(self) -> str:
        """What is wrong, in one line; nothing where it is right."""
        if not self.first:
            return ""
        if found := [*self.swaps, *self.by_address]:
            return f"{self.operation}: {' or '.join(found)}"
        return f"{self.operation}: {self.first}; no exchange of two arguments, and no address of one, makes it right"


def judge_operation(operation: str, caller: Caller, chosen: Keywords = EVERY) -> Judged:
    """Make each chosen golden's call of an operation; where one is wrong look for the exchange that makes all right."""
    found = Judged(operation)
    function = OPERATIONS[operation]
    declared = tuple(parameter.name for parameter in function.parameters)
    ids = [id for id in golden_ids() if operation_of(id) == operation and chosen.matches(id)]
    goldens = [golden for id in ids if (golden := load(id))]
    calls = [(lay_out(operation, golden.arguments), declared) for golden in goldens]
    answers = list(caller.call(function.symbol, calls))
    if any(answer.is_absent for answer in answers):
        return Judged(operation, is_absent=True)
    wrong = {i: said for i, golden in enumerate(goldens) if (said := _wrong(golden, operation, answers[i]))}
    found.cases, found.passed = len(goldens), len(goldens) - len(wrong)
    if wrong:
        first = next(iter(wrong))
        found.first = f"{goldens[first].id}: {wrong[first]}"
        failed = [(goldens[i], calls[i][0]) for i in wrong]
        found.swaps = [words for words, _ in _mending(failed, exchanges(function), operation, caller)]
        if not found.swaps:
            found.by_address = _fewest(_mending(failed, by_address(function), operation, caller))
    return found


def _fewest(mending: Sequence[tuple[str, Order]]) -> list[str]:
    """Those of the fewest addresses: what a function does not look at may be anything."""
    counts = [sum(word.startswith("&") for word in order) for _, order in mending]
    return [words for (words, _), count in zip(mending, counts, strict=True) if count == min(counts)]


def _mending(
    failed: Sequence[tuple[Golden, Stack]], tried: Iterable[tuple[str, Order]], operation: str, caller: Caller
) -> list[tuple[str, Order]]:
    """Return the orders by which every call that failed is right: what mends the first is tried on the next."""
    function = OPERATIONS[operation]
    left = list(tried)
    for golden, stack in failed:
        answers = caller.call(function.symbol, [(stack, order) for _, order in left], _TRIED)
        left = [each for each, answer in zip(left, answers, strict=True) if not _wrong(golden, operation, answer)]
        if not left:
            break
    return left


def _wrong(golden: Golden, operation: str, answer: Answer) -> str:
    if answer.results is None:
        return answer.problem
    verdicts = judge_outputs(operation, golden.arguments, golden.expected, answer.results)
    return next((f"{verdict.output}: {verdict.reason}" for verdict in verdicts if not verdict.passed), "")
