"""Where pieces of memory lie whose lives are known: those that live at one call lie apart."""

from __future__ import annotations

import bisect
from collections import defaultdict
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Life:
    """One piece: its number, its bytes, and the first and the last call at which it lives."""

    number: int
    size: int
    born: int
    last: int


def bound(lives: list[Life]) -> int:
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


def by_size(lives: list[Life]) -> tuple[dict[int, int], int]:
    """Large ones first, each at the smallest gap that it fits in (Pisarchyk and Lee 2020, greedy by size)."""
    placed: list[tuple[int, Life]] = []  # by offset
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


def in_order(lives: list[Life]) -> tuple[dict[int, int], int]:
    """As they are born, each in the smallest free piece that it fits in; free pieces that touch are joined."""
    ends: defaultdict[int, list[Life]] = defaultdict(list)
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
