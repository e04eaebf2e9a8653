"""The ranks that mpirun started. Imported only in such a run: it needs mpi4py.

A sum is an exchange of slices, each rank adding its own slice of all by rank, and an exchange of what came out. That
moves as much as a reduction of MPI's own, which leaves the order of additions, and equal bits everywhere, to whoever
wrote the library.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from mpi4py import MPI

from .diary import waiting
from .interface import Array, Pending, Value, in_order


class Mpi:
    """All processes of one mpirun."""

    def __init__(self) -> None:
        self._all = MPI.COMM_WORLD
        self.rank, self.size = self._all.rank, self._all.size
        self._sums = _Sums(self._all)

    def gather(self, value: Value) -> list[Value]:
        """Return every rank's value."""
        with waiting("a gathering"):
            gathered: list[Value] = self._all.allgather(value)
        return gathered

    def begin_sum(self, arrays: Sequence[Array]) -> Pending:
        """Begin with the exchange of slices."""
        return self._sums.begin(arrays)

    def trade(self, parts: Sequence[Array]) -> list[Array]:
        """Exchange how many rows there are, then the rows."""
        with waiting("a trade"):
            rows = self._all.alltoall([len(part) for part in parts])
        sent, width = np.concatenate(parts), parts[0].shape[1:]
        received = np.empty((sum(rows), *width), sent.dtype)
        row_bytes = math.prod(width) * sent.itemsize
        outward, inward = [len(part) * row_bytes for part in parts], [count * row_bytes for count in rows]
        with waiting("a trade"):
            self._all.Alltoallv([_bytes(sent), outward, MPI.BYTE], [_bytes(received), inward, MPI.BYTE])
        return np.split(received, np.cumsum(rows)[:-1])

    def end_all(self, code: int) -> None:
        """End every process of the run, this one included, whatever they are at."""
        self._all.Abort(code)


class _Sums:
    """The sums whose slices are under way, in their order.

    MPI asks of all ranks to begin the exchanges of one communicator in the same order. Slices go out where the program
    says; what came out goes back when the slices are there, which is earlier on one rank than on another: on a
    communicator of its own, and of one sum after the other.
    """

    def __init__(self, everyone: Any) -> None:
        self.outward, self.back = everyone, everyone.Dup()
        self._waiting: deque[_Sum] = deque()

    def begin(self, arrays: Sequence[Array]) -> _Sum:
        self._waiting.append(_Sum(self, arrays))
        return self._waiting[-1]

    def send_back(self, last: _Sum | None = None) -> None:
        """Send back what is there; wait for all sums up to the last, if one is given."""
        wait = last in self._waiting
        while self._waiting and self._waiting[0].is_there(wait=wait):
            first = self._waiting.popleft()
            first.send_back()
            wait = wait and first is not last


class _Sum:
    """Slices out, sums back."""

    def __init__(self, sums: _Sums, arrays: Sequence[Array]) -> None:
        self._sums, self._shapes = sums, [array.shape for array in arrays]
        size = sums.outward.size
        length = -(-sum(array.size for array in arrays) // size)
        self._whole = np.zeros((size, length), arrays[0].dtype)
        for place, array in zip(self._places(), arrays, strict=True):
            place[...] = array
        self._parts = np.empty_like(self._whole)
        self._request = sums.outward.Ialltoall(_bytes(self._whole), _bytes(self._parts))

    def is_there(self, wait: bool) -> bool:
        """Whether the slices have come; where asked to, wait for them."""
        if wait:
            self._request.Wait()
        return wait or bool(self._request.Test())

    def send_back(self) -> None:
        """Add this rank's slices and send the sum to all; the whole has been sent, its place is free."""
        self._own = in_order(list(self._parts))
        del self._parts  # as large as all that is summed
        self._request = self._sums.back.Iallgather(_bytes(self._own), _bytes(self._whole))

    def test(self) -> None:
        """Send back what can be."""
        self._sums.send_back()

    def wait(self) -> list[Array]:
        """Return the sums: parts of one array."""
        with waiting("a sum"):
            self._sums.send_back(self)
            self._request.Wait()
        return self._places()

    def _places(self) -> list[Array]:
        """Where each array lies in the whole."""
        ends = np.cumsum([math.prod(shape) for shape in self._shapes])
        flat = np.split(self._whole.reshape(-1), ends)
        return [place.reshape(shape) for place, shape in zip(flat, self._shapes, strict=False)]


def _bytes(array: Array) -> Array:
    return array.reshape(-1).view(np.uint8)
