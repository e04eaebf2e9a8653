"""The smallest and plainest call that still fails: delta debugging (Zeller and Hildebrandt 2002), factor by factor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from conformance.catalogue.design.covering import Factor
from conformance.catalogue.design.space import Space, space_of

from .draw import Call, is_free, is_possible


def shrunk(call: Call, fails: Callable[[Call], bool], most: int) -> tuple[Call, int]:
    """Return a call that fails too and of which no factor can be made plainer, and how many calls that took.

    fails: makes a call and says whether it fails in the same way.  most: calls that may be made.
    """
    made, changed = 0, True
    while changed:
        changed = False
        for simpler in _simpler(call):
            if made == most:
                return call, made
            made += 1
            if fails(simpler):
                call, changed = simpler, True
                break
    return call, made


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
        smaller += [size for size in (value // 2, 3 * value // 4, value - 1) if min(factor.levels) <= size < value]
    yield from dict.fromkeys(smaller)
