"""Devices that do as this one does: what their exchange takes of its memory."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, TypeVar

from .ledger import Ledger

Value = TypeVar("Value")


class Peers:
    """Ranks for arrays without numbers; each rank has as much of everything as this one.

    given: the numbers, in the ledger, of arrays that were to be summed; taken: of those that the sums are made in.
    """

    rank = 0

    def __init__(self, size: int, ledger: Ledger) -> None:
        self.size, self._ledger = size, ledger
        self.given: set[int] = set()
        self.taken: set[int] = set()

    def gather(self, value: Value) -> list[Value]:
        """Every rank's value."""
        return [value] * self.size

    def begin_sum(self, arrays: Sequence[Any]) -> Sum:
        """Begin to sum each of the arrays."""
        self.given |= set(map(self._ledger.number, arrays))
        begun = Sum(arrays, self.size)
        self.taken |= set(map(self._ledger.number, (begun.whole, begun.slices)))
        return begun

    def trade(self, parts: Sequence[Any]) -> list[Any]:
        """What each rank gives to this one."""
        return [parts[self.rank].copy() for _ in parts]


class Sum:
    """A sum that arrives when it is waited for.

    As in training.ranks.mpi it takes a copy of all arrays, which becomes the sum; until it has arrived, the slices of
    all ranks; and then the sum of those.
    """

    def __init__(self, arrays: Sequence[Any], size: int) -> None:
        self._shapes = [array.shape for array in arrays]
        self._length = length = -(-sum(array.size for array in arrays) // size)
        self.whole = arrays[0].of(size * length)
        self.slices: Any = arrays[0].of(size * length)

    def test(self) -> None:
        """It has not come yet."""

    def wait(self) -> list[Any]:
        """Return views of it."""
        self._own = self.whole.of(self._length)
        self.slices = None
        return [self.whole[: prod(shape)].reshape(shape) for shape in self._shapes]
