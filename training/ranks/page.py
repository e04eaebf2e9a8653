"""What a rank is at, on a page that other processes of its machine read: which step, what of it, since when.

A rank writes its own page at every change, which takes microseconds; whoever watches it reads, and nobody waits.
"""

from __future__ import annotations

import mmap
import os
import struct
import tempfile
from collections.abc import Mapping
from typing import NamedTuple

_NOW = struct.Struct("<qdq?96s")  # the fields of At
_PLACE = struct.Struct("<qqq")  # those of Place


class At(NamedTuple):
    """What a rank is at since a time of time.monotonic: a phase of a step (0: before the first).

    waits: how often it has waited for other ranks, counting this time where it is `waiting`.
    """

    step: int
    since: float
    waits: int
    waiting: bool
    phase: str

    def __str__(self) -> str:
        return f"step {self.step}, {self.phase}" if self.step else self.phase

    def holds_up(self, other: At) -> bool:
        """Whether the other one, which waits, waits for this one: all ranks wait for the same things in turn."""
        return not self.waiting or self.waits < other.waits


class Place(NamedTuple):
    """A rank's process, the process that watches it, and the number of the rank's page among that one's open files."""

    process: int
    watcher: int
    file: int


class Page:
    """The page of one rank of a run: the same bytes for every process that opens its file."""

    def __init__(self, file: int, size: int, access: int = mmap.ACCESS_WRITE) -> None:
        """file: its descriptor; size: how many ranks there are."""
        self.file, self._size = file, size
        self._bytes = mmap.mmap(file, _length(size), access=access)

    @classmethod
    def new(cls, size: int) -> Page:
        """Return the page of a rank that begins. Its file has no name: nothing is left of it, however the run ends."""
        if hasattr(os, "memfd_create"):
            file = os.memfd_create("rank")
        else:
            with tempfile.TemporaryFile() as unnamed:
                file = os.dup(unnamed.fileno())
        os.truncate(file, _length(size))
        return cls(file, size)

    def write(self, at: At) -> None:
        """Say what the rank is at."""
        _NOW.pack_into(self._bytes, 0, *at[:-1], at.phase.encode())

    def read(self) -> At:
        """Return what the rank is at; while it writes, this may be half of one and half of the other."""
        step, since, waits, waiting, phase = _NOW.unpack_from(self._bytes)
        return At(step, since, waits, waiting, phase.rstrip(b"\0").decode(errors="replace"))

    def introduce(self, places: Mapping[int, Place]) -> None:
        """Say which ranks are on this machine, and where."""
        for rank, place in places.items():
            _PLACE.pack_into(self._bytes, _NOW.size + rank * _PLACE.size, *place)

    def places(self) -> dict[int, Place]:
        """Return the ranks of this machine; none before all have met."""
        read = (_PLACE.unpack_from(self._bytes, _NOW.size + rank * _PLACE.size) for rank in range(self._size))
        return {rank: Place(*place) for rank, place in enumerate(read) if any(place)}

    def others(self) -> dict[int, At]:
        """Return what each rank of this machine is at, as far as the system (Linux) opens their pages."""
        found = ((rank, self._of(place)) for rank, place in self.places().items())
        return {rank: at for rank, at in found if at}

    def _of(self, place: Place) -> At | None:
        try:
            file = os.open(f"/proc/{place.watcher}/fd/{place.file}", os.O_RDONLY)
        except OSError:  # it has ended
            return None
        try:
            return Page(file, self._size, mmap.ACCESS_READ).read()
        except ValueError:  # its number is another process's by now
            return None
        finally:
            os.close(file)


def _length(size: int) -> int:
    return _NOW.size + size * _PLACE.size
