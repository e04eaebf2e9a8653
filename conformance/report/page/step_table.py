"""A training step as a list, from embedding to optimiser: every tensor's share of its limit, locked and free."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from conformance import ids
from conformance.catalogue.families import facts_of
from conformance.judging.results import Result, Status
from conformance.judging.verdict import Verdict
from conformance.limits.measure import MadeOf
from conformance.report.record import Run
from conformance.steps import FREE, WHOLE
from reference.ops.sixteen import is_form_of
from reference.step import BACKWARD_BEGINS

from .model import Block, anchor, block, shown_first
from .words import bar, used_short


@dataclass(frozen=True)
class Share:
    """What one of the two ways found of one tensor."""

    used: str
    bar: int
    passed: bool
    is_first: bool  # the first of its step that is wrong
    anchor: str  # of the block that shows it, if one does


@dataclass(frozen=True)
class Tensor:
    """One output of one call of a step."""

    place: str
    call: str
    name: str
    kind: str
    locked: Share | None
    free: Share | None


@dataclass(frozen=True)
class StepTable:
    """One step: its tensors in the order of execution, and where it first goes wrong."""

    name: str
    tensors: Sequence[Tensor]
    was_run: bool
    wrong: Sequence[tuple[str, Result]]  # "locked" or "free", and the first call that is wrong
    blocks: Sequence[Block]
    most: float


def step_tables(run: Run, number: int) -> list[StepTable]:
    """Return every step of a run.

    Free steps that did not come back have no calls: their result stands alone; nothing does where they were not run.
    """
    steps: dict[str, tuple[dict[str, Result], dict[str, Result]]] = {}
    for result in run.results:
        if result.is_of_step and result.part not in WHOLE and (result.was_run or result.id != FREE):
            step, free, place = _place_in_step(result)
            steps.setdefault(step, ({}, {}))[free][place] = result
    return [_step_table(step, *ways, run, number) for step, ways in sorted(steps.items())]


def first_wrong(table: StepTable) -> int:
    """Return the place of the first tensor that is wrong, locked or free."""
    return next(i for i, t in enumerate(table.tensors) if any(way and way.is_first for way in (t.locked, t.free)))


def _place_in_step(result: Result) -> tuple[str, bool, str]:
    """The step's name, whether it ran free, and the call's place in it."""
    head = ids.place_of(result.id)
    if result.part == FREE:
        step, _, place = head.partition(".")
        return step or "1", True, place
    return ids.name_of_locked(result.part), False, head


def _step_table(step: str, locked: dict[str, Result], free: dict[str, Result], run: Run, number: int) -> StepTable:
    firsts = [next((r for _, r in sorted(way.items()) if r.has_failed), None) for way in (locked, free)]
    wrong = [(name, first) for name, first in zip(("locked", "free"), firsts, strict=True) if first]
    named = shown_first(run)
    results = [r for way in (locked, free) for r in way.values()]
    failed = [r for r in results if r.has_failed and (r.evidence or r.id in named)]
    tensors: list[Tensor] = []
    begun = _backward_begins({**locked, **free})
    for place in sorted(locked.keys() | free.keys()):
        tensors += _tensors(place, (locked.get(place), free.get(place)), firsts, number, place >= begun)
    most = max((r.share for r in results), default=0.0)
    was_run = any(r.was_run for r in results)
    return StepTable(step, tensors, was_run, wrong, [block(result, run, number) for result in failed], most)


def _backward_begins(calls: Mapping[str, Result]) -> str:
    """The place of the first call of backward; behind every place, where there is none."""
    return min((place for place, r in calls.items() if is_form_of(r.operation, *BACKWARD_BEGINS)), default="~")


def _tensors(
    place: str, ways: Sequence[Result | None], firsts: Sequence[Result | None], number: int, is_backward: bool
) -> Iterator[Tensor]:
    known = next(result for result in ways if result)
    call = ids.label_of(known.id) or known.operation
    outputs = dict.fromkeys(v.output for result in ways if result for v in result.verdicts)
    for output in outputs or {"": None}:
        shares = [_share(result, output, first, number) for result, first in zip(ways, firsts, strict=True)]
        name = known.tensors.get(output, output)
        yield Tensor(place, call, name, _kind(known.operation, output, name, is_backward), shares[0], shares[1])


def _share(result: Result | None, output: str, first: Result | None, number: int) -> Share | None:
    if result is None or not result.was_run:
        return None
    verdict = next((v for v in result.verdicts if v.output == output), None)
    passed = verdict.passed if verdict else result.status is Status.PASS
    place = anchor(number, result.id) if result.evidence and not passed else ""
    said, length = (used_of(verdict), bar(verdict.share)) if verdict else (str(result.status), 100)
    return Share(said, length, passed, result is first and not passed, place)


def used_of(verdict: Verdict) -> str:
    """The share of the limit; where every element is within its own, what is wrong with all of them together."""
    if verdict.made_of is MadeOf.EXACT and verdict.passed:
        return "exact"
    if verdict.passed or verdict.share > 1:
        return used_short(verdict.share)
    if verdict.rms > verdict.rms_limit:
        return f"rms {verdict.rms:.3g} > {verdict.rms_limit:.3g}"
    return f"mean {verdict.bias:+.3g}, allowed {verdict.bias_limit:.3g}"


def _kind(operation: str, output: str, name: str, is_backward: bool) -> str:
    """What a tensor is to the step."""
    if facts_of(operation).updates:
        return "parameter" if output.startswith(("params", "copies")) else "moment"
    if facts_of(operation).measures_norm:
        return "norm"
    if is_backward or operation.endswith("_backward") or name.startswith("gradient"):
        return "gradient"
    return "loss" if output == "loss" else "activation"
