"""What the step asks of the ranks of a run, and the run of a single process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from numpy.typing import NDArray

Value = TypeVar("Value")
Array = NDArray[Any]


class Pending(Protocol):
    """A sum under way."""

    def test(self) -> None:
        """Let it go on as far as it can without waiting."""

    def wait(self) -> list[Array]:
        """Return the sums in the arrays' order and shapes, the same bits on every rank."""


class Ranks(Protocol):
    """The processes of a run, numbered from 0. All of them make the same calls in the same order.

    A sum adds the ranks' arrays element by element in the order of their numbers, in the arrays' own type: so its bits
    are the same on every rank, in every run, and whatever carries the numbers. (NCCL's order is its own.)
    """

    rank: int
    size: int

    def gather(self, value: Value) -> list[Value]:
        """Return every rank's value, by rank: for small things, as numbers and hashes. It is the barrier too."""

    def begin_sum(self, arrays: Sequence[Array]) -> Pending:
        """Begin to sum each of the arrays, which are of one type and of the same shapes on every rank."""

    def trade(self, parts: Sequence[Array]) -> list[Array]:
        """Give part r to rank r and return what each rank gave to this one: rows of one type and width, any number."""


class Summed:
    """A sum that is there already."""

    def __init__(self, arrays: Sequence[Array]) -> None:
        self._arrays = list(arrays)

    def test(self) -> None:
        """Nothing is left to do."""

    def wait(self) -> list[Array]:
        """Return it."""
        return self._arrays


class Alone:
    """A run of one process: there is nobody to wait for, and no array is copied."""

    rank, size = 0, 1

    def gather(self, value: Value) -> list[Value]:
        """Return the one value."""
        return [value]

    def begin_sum(self, arrays: Sequence[Array]) -> Pending:
        """Return the arrays: they are their own sums."""
        return Summed(arrays)

    def trade(self, parts: Sequence[Array]) -> list[Array]:
        """Return the one part."""
        return list(parts)


ALONE = Alone()


def totals(ranks: Ranks, *numbers: int) -> list[int]:
    """Each of the numbers summed over the ranks."""
    return [sum(of_ranks) for of_ranks in zip(*ranks.gather(numbers), strict=True)]


def in_order(parts: Sequence[Array]) -> Array:
    """The sum of the parts as every implementation computes it: one addition after the other, by rank."""
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total
