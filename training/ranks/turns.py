"""Several ranks in one process, without MPI: each runs in a thread, one at a time, until it waits for the others.

For tests and for the judge. What is summed has the same bits as under MPI: both add by rank.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from .interface import Array, Pending, Summed, Value, in_order

Result = TypeVar("Result")


class _Stopped(BaseException):
    """Another rank raised: this one's thread ends, and nobody sees it."""


class _Table:
    """What each rank has laid on the table so far, and whose turn it is."""

    def __init__(self, size: int) -> None:
        self.given: list[list[Any]] = [[] for _ in range(size)]
        self.error: BaseException | None = None
        self._running = list(range(size))
        self._turn = 0
        self._changed = threading.Condition()

    def pass_on(self, rank: int, *, ends: bool = False, error: BaseException | None = None) -> None:
        with self._changed:
            self.error = self.error or error
            later = [other for other in self._running if other > rank]
            if ends:
                self._running.remove(rank)
            self._turn = next(iter([*later, *self._running]), 0)
            self._changed.notify_all()

    def await_turn(self, rank: int) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self.error or self._turn == rank)
            if self.error:
                raise _Stopped


class Turns:
    """One of the ranks that take turns."""

    def __init__(self, table: _Table, rank: int) -> None:
        self.rank, self.size = rank, len(table.given)
        self._table = table

    def gather(self, value: Value) -> list[Value]:
        """Lay the value on the table; when it is this rank's turn again, all have."""
        place = len(self._table.given[self.rank])
        self._table.given[self.rank].append(copy.deepcopy(value))
        self._table.pass_on(self.rank)
        self._table.await_turn(self.rank)
        for rank, given in enumerate(self._table.given):
            if len(given) <= place:
                raise RuntimeError(f"rank {self.rank} waits for rank {rank}, which has ended")
        return [given[place] for given in self._table.given]

    def begin_sum(self, arrays: Sequence[Array]) -> Pending:
        """Sum at once."""
        return Summed([in_order(parts) for parts in zip(*self.gather(list(arrays)), strict=True)])

    def trade(self, parts: Sequence[Array]) -> list[Array]:
        """Take this rank's part of what each gave."""
        return [given[self.rank] for given in self.gather(list(parts))]


def taking_turns(size: int, work: Callable[[Turns], Result]) -> list[Result]:
    """Run work(ranks) as each of so many ranks and return the results by rank; the first error ends all of them."""
    table = _Table(size)
    results: dict[int, Result] = {}

    def run(rank: int) -> None:
        try:
            table.await_turn(rank)
            results[rank] = work(Turns(table, rank))
        except _Stopped:
            return
        except BaseException as error:
            error.add_note(f"on rank {rank}")
            table.pass_on(rank, ends=True, error=error)
        else:
            table.pass_on(rank, ends=True)

    threads = [threading.Thread(target=run, args=(rank,), daemon=True) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if table.error:
        raise table.error
    return [results[rank] for rank in range(size)]
