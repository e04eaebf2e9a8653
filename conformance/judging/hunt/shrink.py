"""The smallest and plainest call that still fails: delta debugging (Zeller and Hildebrandt 2002), factor by factor.

Of a sequence the fewest calls, and each as plain as can be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from conformance.catalogue.design.covering import Factor
from conformance.catalogue.design.space import Space, space_of

from .draw import Call, is_free, is_possible
from .sequence import Step, Steps, refusals_of

Failing = TypeVar("Failing", Call, Steps)


def shrunk(call: Call, fails: Callable[[Call], bool], most: int) -> tuple[Call, int]:
    """Return a call that fails too and of which no factor can be made plainer, and how many calls that took.

    fails: makes a call and says whether it fails in the same way.  most: calls that may be made.
    """
    return _smallest(call, _simpler, fails, most)


def shrunk_steps(steps: Steps, fails: Callable[[Steps], bool], most: int) -> tuple[Steps, int]:
    """Return a sequence that fails too and no step of which can go or be made plainer, and how many were tried.

    fails: makes a sequence and says whether it fails in the same way.  most: sequences that may be made.
    """
    return _smallest(steps, _simpler_steps, fails, most)


def _smallest(
    failing: Failing, simpler: Callable[[Failing], Iterator[Failing]], fails: Callable[[Failing], bool], most: int
) -> tuple[Failing, int]:
    made, changed, tried = 0, True, {repr(failing)}
    while changed:
        changed = False
        for other in simpler(failing):
            if repr(other) in tried:
                continue
            if made == most:
                return failing, made
            tried.add(repr(other))
            made += 1
            if fails(other):
                failing, changed = other, True
                break
    return failing, made


def _simpler_steps(steps: Steps) -> Iterator[Steps]:
    """Yield sequences of one call less, then such whose arrays stay where they were, then such of plainer calls."""
    if len(steps) > 1:
        yield from (steps[:at] + steps[at + 1 :] for at in range(len(steps)))
    if any(step.run != 1 for step in steps):
        yield tuple(replace(step, run=1) for step in steps)
    rows = [step.call.row for step in steps]
    for at, step in enumerate(steps):
        if step.call.row in rows[:at]:
            continue  # calls of the same sizes are changed together
        for plainer in _simpler(step.call):
            changed = tuple(_with_row(one, plainer) if one.call.row == step.call.row else one for one in steps)
            if all(not one.refusal or one.refusal in refusals_of(one.call) for one in changed):
                yield changed


def _with_row(step: Step, call: Call) -> Step:
    return replace(step, call=replace(step.call, row=call.row))


def _simpler(call: Call) -> Iterator[Call]:
    """Yield calls of which one factor is plainer, the largest steps first."""
    space = space_of(call.operation)
    for factor in space.factors:
        for value in _plainer(space, factor, call.row[factor.name]):
            row = {**call.row, factor.name: value}
            if is_possible(space, row):
                yield replace(call, row=row)


def _plainer(space: Space, factor: Factor, value: Any) -> Iterator[Any]:
    """Yield plainer values of a factor: the levels before it, and of a size that may be any number less of it."""
    if factor.kind != "size" or not isinstance(value, int):
        yield from factor.levels[: factor.levels.index(value) if value in factor.levels else None]
        return
    smaller = [level for level in factor.levels if level < value]
    if is_free(space, factor):
        parts = (value - max(1, value // part) for part in (2, 4, 8, 16, value))
        smaller += [size for size in parts if min(factor.levels) <= size]
    yield from dict.fromkeys(smaller)
