"""Counts the bytes of the arrays that operations return, for as long as anything holds them."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any


class Ledger:
    """The bytes alive now, and the most there were; an array counts once, however many views there are of it."""

    def __init__(self) -> None:
        self.live = self.peak = 0
        self._held: dict[int, tuple[weakref.ref[Any], int]] = {}

    def hold(self, array: Any) -> None:
        """Count an array until it is gone."""
        owner = owner_of(array)
        key = id(owner)
        if key in self._held:
            return
        self._held[key] = weakref.ref(owner, lambda _: self._release(key)), owner.nbytes
        self.live += owner.nbytes
        self.peak = max(self.peak, self.live)

    def _release(self, key: int) -> None:
        _, size = self._held.pop(key)
        self.live -= size


class Watched:
    """A namespace of operations whose results stand in a ledger, and whose calls are counted."""

    def __init__(self, ops: Any, ledger: Ledger, calls: Counter[str] | None = None) -> None:
        self._ops, self._ledger = ops, ledger
        self.calls = Counter() if calls is None else calls

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        function = getattr(self._ops, operation)

        def called(*args: Any, **kwargs: Any) -> Any:
            self.calls[operation] += 1
            results = function(*args, **kwargs)
            for array in arrays_in(results):
                self._ledger.hold(array)
            return results

        return called


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
