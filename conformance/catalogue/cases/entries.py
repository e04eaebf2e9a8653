"""What index arrays cannot hold: values out of range in each kind of place, offsets in disorder, repeated rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bindings.header.records import Function, Parameter
from conformance.catalogue.facts import Facts

Sizes = Mapping[str, Any]
Entries = tuple["Entry", ...]
_TWICE_EACH = (1, 1, 2, 2)  # whose sum, and exclusive or, is that of 0, 1, 2, 3
_WRITTEN = 64  # entries of an array of which all are written, at most


@dataclass(frozen=True)
class Entry:
    """An entry of an index array that cannot be: its place among all entries, and what stands there.

    like: the place of another entry, whose value it takes; `value` is then ignored.
    """

    array: str
    place: int
    value: int = 0
    like: int | None = None

    def put(self, arguments: dict[str, Any]) -> None:
        """Put it into a copy of the array, which takes its place among the arguments."""
        changed = arguments[self.array].copy()
        changed.flat[self.place] = self.value if self.like is None else changed.flat[self.like]
        arguments[self.array] = changed

    def __str__(self) -> str:
        value = self.value if self.like is None else f"{self.array}[{self.like}]"
        return f"{self.array}[{self.place}] = {value}"


def places(count: int) -> list[int]:
    """The first, the middle and the last of so many entries."""
    return [*dict.fromkeys((0, count // 2, count - 1))]


def out_of_range(parameter: Parameter, function: Function, sizes: Sizes) -> Iterator[tuple[str, Entries]]:
    """Yield for each place of an index array a value past its range, and one below where that has no meaning.

    In the last place a value that lies far past it, too: whoever asks for equality alone lets that through.
    """
    assert parameter.limit
    kind, bound = parameter.limit
    if not set(bound.names) <= function.by_name.keys():
        return  # the operation is not told the upper end
    last = count(parameter, sizes) - 1
    for place in places(last + 1):
        name = f"{parameter.name}[{place}]"
        yield f"{name}_too_large", (Entry(parameter.name, place, bound(sizes)),)
        if kind == "WITHIN":
            yield f"{name}_negative", (Entry(parameter.name, place, -1),)
    if kind == "WITHIN" and last > 1:  # what stands behind the first place may be compared with that alone
        yield f"{parameter.name}[1]_below", (Entry(parameter.name, 1, -1),)
    yield f"{parameter.name}[{last}]_far_too_large", (Entry(parameter.name, last, 2 * bound(sizes) + 1),)


def inconsistent(facts: Facts, function: Function, sizes: Sizes) -> Iterator[tuple[str, Entries]]:
    """Yield entries that are all in range and cannot be together."""
    if facts.offsets:
        yield from _offsets(function.by_name[facts.offsets], sizes)
    if facts.permutation:
        yield from _repeated(function.by_name[facts.permutation], sizes)


def _offsets(parameter: Parameter, sizes: Sizes) -> Iterator[tuple[str, Entries]]:
    """Offsets that do not ascend from 0 to the largest value of their range."""
    assert parameter.limit
    array, last, end = parameter.name, count(parameter, sizes) - 1, parameter.limit[1](sizes) - 1
    yield f"{array}_begin_late", (Entry(array, 0, 1),)
    yield f"{array}_end_early", (Entry(array, last, end - 1),)
    if last > 2:
        yield f"{array}_descend", (Entry(array, 1, end), Entry(array, 2, 0))
        yield f"{array}_descend_last", (Entry(array, last - 1, end + 1),)


def _repeated(parameter: Parameter, sizes: Sizes) -> Iterator[tuple[str, Entries]]:
    """Permutations that hold the value of one place in another one, too: that of the first, and not only that.

    In the last of them two values stand twice, and all sum up to what a permutation's do, by + as by exclusive or.
    """
    entries = count(parameter, sizes)
    array, (first, *others) = parameter.name, places(entries)
    pairs = [*((place, first) for place in others), *((first, place) for place in others[-1:])]
    if entries > 2:
        pairs.append((entries - 1, entries - 2))
    for place, like in pairs:
        yield f"{array}[{place}]_repeats_{array}[{like}]", (Entry(array, place, like=like),)
    if len(_TWICE_EACH) <= entries <= _WRITTEN:
        held = (*_TWICE_EACH, *range(len(_TWICE_EACH), entries))
        yield f"{array}_sums_up_alone", tuple(Entry(array, place, value) for place, value in enumerate(held))


def count(parameter: Parameter, sizes: Sizes) -> int:
    """Return how many entries an array of a call has."""
    return math.prod(axis.size(sizes) for axis in parameter.shape)
