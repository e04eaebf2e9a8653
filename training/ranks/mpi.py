"""The ranks that mpirun started. Imported only in such a run: it needs mpi4py.

A sum is an exchange of slices, each rank adding its own slice of all by rank, and an exchange of what came out. That
moves as much as a reduction of MPI's own, which leaves the order of additions, and equal bits everywhere, to whoever
wrote the library.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from mpi4py import MPI

from training.ranks.interface import Array, Pending, Value, in_order


class Mpi:
    """All processes of one mpirun."""

    def __init__(self) -> None:
        self._all = MPI.COMM_WORLD
        self.rank, self.size = self._all.rank, self._all.size

    def gather(self, value: Value) -> list[Value]:
        """Return every rank's value."""
        gathered: list[Value] = self._all.allgather(value)
        return gathered

    def begin_sum(self, arrays: Sequence[Array]) -> Pending:
        """Begin with the exchange of slices."""
        return _Sum(self._all, arrays)

    def trade(self, parts: Sequence[Array]) -> list[Array]:
        """Exchange how many rows there are, then the rows."""
        rows = self._all.alltoall([len(part) for part in parts])
        sent, width = np.concatenate(parts), parts[0].shape[1:]
        received = np.empty((sum(rows), *width), sent.dtype)
        row_bytes = math.prod(width) * sent.itemsize
        outward, inward = [len(part) * row_bytes for part in parts], [count * row_bytes for count in rows]
        self._all.Alltoallv([_bytes(sent), outward, MPI.BYTE], [_bytes(received), inward, MPI.BYTE])
        return np.split(received, np.cumsum(rows)[:-1])

    def end_all(self, code: int) -> None:
        """End every process of the run, this one included, whatever they are at."""
        self._all.Abort(code)


class _Sum:
    """Slices out, sums back."""

    def __init__(self, everyone: Any, arrays: Sequence[Array]) -> None:
        self._all, self._shapes = everyone, [array.shape for array in arrays]
        length = -(-sum(array.size for array in arrays) // everyone.size)
        self._whole = np.zeros((everyone.size, length), arrays[0].dtype)
        for place, array in zip(self._places(), arrays, strict=True):
            place[...] = array
        self._parts = np.empty_like(self._whole)
        self._own: Array | None = None
        self._request = everyone.Ialltoall(_bytes(self._whole), _bytes(self._parts))

    def test(self) -> None:
        """Once the slices are here, add them and send the sum on."""
        if self._request.Test() and self._own is None:
            self._send_on()

    def wait(self) -> list[Array]:
        """Return the sums: parts of one array."""
        self._request.Wait()
        if self._own is None:
            self._send_on()
            self._request.Wait()
        return self._places()

    def _send_on(self) -> None:
        self._own = in_order(list(self._parts))
        self._request = self._all.Iallgather(_bytes(self._own), _bytes(self._whole))  # all of it has been sent

    def _places(self) -> list[Array]:
        """Where each array lies in the whole."""
        ends = np.cumsum([math.prod(shape) for shape in self._shapes])
        flat = np.split(self._whole.reshape(-1), ends)
        return [place.reshape(shape) for place, shape in zip(flat, self._shapes, strict=False)]


def _bytes(array: Array) -> Array:
    return array.reshape(-1).view(np.uint8)
