"""Where intermediate arrays lie in one piece of memory, so that it is used again when what lay there is dead.

An array lives from the call that fills it to the last one that reads it, results to the end. The bound: at some call
all arrays that live then are somewhere, so that no plan needs less than the most of them at any call.
"""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from reference.arrays import Array
from reference.namespace import Ops

from .checked import Checked
from .run import Run
from .trace import Trace, Traced

ALIGNMENT = 256  # bytes: that of a device's allocations, and a multiple of every vector's
_EXHAUSTIVE = 1500  # arrays, up to which the slower placement is tried too


@dataclass(frozen=True)
class Plan:
    """offsets: by slot; peak: bytes of the memory; bound: the fewest that any plan needs; apart: without reuse."""

    offsets: Mapping[int, int]
    peak: int
    bound: int
    apart: int

    def __str__(self) -> str:
        return (
            f"intermediates: {self.peak:,} bytes planned, {self.bound:,} at least (what lives at one call), "
            f"{self.apart:,} without reuse"
        )


def plan(
    checked: Checked, ops: Ops, arrays: Mapping[str, Array], *, backward: bool = True, keep: Collection[str] = ()
) -> Plan:
    """Return the plan of a pass over these arrays, forward and backward; keep: values that are wanted at the end.

    The pass is made once, and its calls noted. Losses, running statistics and the parameters' gradients are kept.
    """
    traced = Traced(ops)
    run = Run(checked, traced)
    forward = run.forward(arrays, training=backward)
    gradients = [g for g in run.backward(forward).parameters.values() if g is not None] if backward else []
    kept = [*forward.losses.values(), *forward.state.values(), *gradients, *(forward.values[name] for name in keep)]
    if not backward:
        kept += [forward.values[name] for name in checked.graph.outputs]
    for array in kept:
        traced.trace.keep(array)
    return plan_of(traced.trace)


def plan_of(trace: Trace, elsewhere: Collection[int] = ()) -> Plan:
    """Return the plan of a trace; elsewhere: slots that lie outside of it."""
    lives = [
        _Life(slot.number, -(-slot.nbytes // ALIGNMENT) * ALIGNMENT, slot.born, trace.last[slot.number])
        for slot in trace.slots
        if slot.number not in elsewhere
    ]
    found = [_in_order(lives)]
    if len(lives) <= _EXHAUSTIVE:
        found.append(_by_size(lives))
    offsets, peak = min(found, key=lambda one: one[1])
    return Plan(offsets, peak, _bound(lives), sum(life.size for life in lives))


@dataclass(frozen=True, slots=True)
class _Life:
    number: int
    size: int
    born: int
    last: int


def _bound(lives: list[_Life]) -> int:
    """The most bytes that live at one call."""
    changes: defaultdict[int, int] = defaultdict(int)
    for life in lives:
        changes[life.born] += life.size
        changes[life.last + 1] -= life.size
    most = now = 0
    for call in sorted(changes):
        now += changes[call]
        most = max(most, now)
    return most


def _by_size(lives: list[_Life]) -> tuple[dict[int, int], int]:
    """Large ones first, each at the smallest gap that it fits in (Pisarchyk and Lee 2020, greedy by size)."""
    placed: list[tuple[int, _Life]] = []  # by offset
    offsets, peak = dict[int, int](), 0
    for life in sorted(lives, key=lambda one: (-one.size, one.born)):
        end, best, room = 0, None, None
        for at, other in placed:
            if other.last < life.born or other.born > life.last:
                continue
            gap = at - end
            if gap >= life.size and (room is None or gap < room):
                best, room = end, gap
            end = max(end, at + other.size)
        offsets[life.number] = at = end if best is None else best
        bisect.insort(placed, (at, life), key=lambda one: one[0])
        peak = max(peak, at + life.size)
    return offsets, peak


def _in_order(lives: list[_Life]) -> tuple[dict[int, int], int]:
    """As they are born, each in the smallest free piece that it fits in; free pieces that touch are joined."""
    ends: defaultdict[int, list[_Life]] = defaultdict(list)
    free = _Free()
    offsets = dict[int, int]()
    done = 0
    for life in sorted(lives, key=lambda one: (one.born, -one.size)):
        for call in range(done, life.born):
            for dead in ends.pop(call, ()):
                free.give(offsets[dead.number], dead.size)
        done = max(done, life.born)
        offsets[life.number] = free.take(life.size)
        ends[life.last].append(life)
    return offsets, free.peak


class _Free:
    """Free pieces of memory that grows at its end."""

    def __init__(self) -> None:
        self.peak = 0
        self._sizes: list[tuple[int, int]] = []  # (size, offset), sorted
        self._starts: dict[int, int] = {}  # offset: size
        self._ends: dict[int, int] = {}  # end: offset

    def take(self, size: int) -> int:
        place = bisect.bisect_left(self._sizes, (size, -1))
        if place < len(self._sizes):
            found, at = self._sizes[place]
            self._remove(at)
            if found > size:
                self._insert(at + size, found - size)
            return at
        if self.peak in self._ends:  # what is free at the end grows
            at = self._ends[self.peak]
            self._remove(at)
        else:
            at = self.peak
        self.peak = at + size
        return at

    def give(self, at: int, size: int) -> None:
        before, behind = self._ends.get(at), at + size
        if behind in self._starts:
            size += self._starts[behind]
            self._remove(behind)
        if before is not None:
            size += at - before
            self._remove(before)
            at = before
        self._insert(at, size)

    def _insert(self, at: int, size: int) -> None:
        bisect.insort(self._sizes, (size, at))
        self._starts[at], self._ends[at + size] = size, at

    def _remove(self, at: int) -> None:
        size = self._starts.pop(at)
        del self._ends[at + size]
        del self._sizes[bisect.bisect_left(self._sizes, (size, at))]
