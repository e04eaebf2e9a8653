"""Ranks whose arrays lie in a library's memory: what they sum crosses by way of the host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .interface import Array, Pending, Ranks, Value

if TYPE_CHECKING:
    from bindings import DeviceArray, Library


class Staged:
    """The ranks of a run, for arrays of a library that was opened resident."""

    def __init__(self, ranks: Ranks, library: Library, reason: str = "") -> None:
        """reason: why no other way was taken, as `way` is to say."""
        self.way = f"by way of the host: {reason}" if reason else "by way of the host"
        self.rank, self.size = ranks.rank, ranks.size
        self._ranks, self._library = ranks, library

    def gather(self, value: Value) -> list[Value]:
        """Return every rank's value."""
        return self._ranks.gather(value)

    def begin_sum(self, arrays: Sequence[Any]) -> Pending:
        """Begin to sum arrays of the library's memory; waits until they are computed."""
        return _TotalsToDevice(self._ranks.begin_sum([array.to_host() for array in arrays]), self._library)

    def trade(self, parts: Sequence[Any]) -> list[Any]:
        """Give parts away and get others, all in the library's memory."""
        return [_to_device(self._library, rows) for rows in self._ranks.trade([part.to_host() for part in parts])]


class _TotalsToDevice:
    """A sum that goes back to where its parts came from."""

    def __init__(self, pending: Pending, library: Library) -> None:
        self._pending, self._library = pending, library

    def test(self) -> None:
        self._pending.test()

    def wait(self) -> list[Any]:
        return [_to_device(self._library, total) for total in self._pending.wait()]


def _to_device(library: Library, host: Array) -> DeviceArray:
    array = library.memory.empty(host.shape, host.dtype)
    array.copy_from(np.ascontiguousarray(host))
    return array
