"""Counts the bytes of the arrays that operations return, for as long as anything holds them."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterator
from typing import Any

from reference.namespace import Ops, Wrapped


class Ledger:
    """The bytes alive now, and the most there were; an array counts once, however many views there are of it.

    Arrays are numbered in the order in which they came; `at_peak` are the bytes of those alive when most were, by
    number, from the first release after that.
    """

    def __init__(self) -> None:
        self.live = self.peak = self._count = 0
        self.at_peak: dict[int, int] = {}
        self._held: dict[int, tuple[weakref.ref[Any], int]] = {}  # by where the array's owner lies
        self._sizes: dict[int, int] = {}

    def hold(self, array: Any) -> None:
        """Count an array until it is gone."""
        owner = owner_of(array)
        key = id(owner)
        if key in self._held:
            return
        number, self._count = self._count, self._count + 1
        self._held[key] = weakref.ref(owner, lambda _: self._release(key)), number
        self._sizes[number] = owner.nbytes
        self.live += owner.nbytes
        self.peak = max(self.peak, self.live)

    def begin(self) -> None:
        """Count the most from here on."""
        self.peak, self.at_peak = self.live, {}

    def alive(self) -> set[int]:
        """The numbers of the arrays that are there."""
        return set(self._sizes)

    def number(self, array: Any) -> int:
        """The number of an array that is held."""
        return self._held[id(owner_of(array))][1]

    def _release(self, key: int) -> None:
        if self.live == self.peak:
            self.at_peak = dict(self._sizes)
        _, number = self._held.pop(key)
        self.live -= self._sizes.pop(number)


class Watched(Wrapped):
    """A namespace of operations whose results stand in a ledger, and whose calls are counted."""

    def __init__(self, ops: Ops, ledger: Ledger, calls: Counter[str] | None = None) -> None:
        super().__init__(ops)
        self._ledger = ledger
        self.calls = Counter() if calls is None else calls

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        self.calls[operation] += 1
        results = super()._call(operation, *args, **named)
        for array in arrays_in(results):
            self._ledger.hold(array)
        return results


def owner_of(array: Any) -> Any:
    """The array that holds the memory of a view."""
    while array.base is not None:
        array = array.base
    return array


def arrays_in(value: Any) -> Iterator[Any]:
    """Every array of nested tuples, lists and dicts."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        for part in value:
            yield from arrays_in(part)
    elif hasattr(value, "nbytes"):
        yield value
