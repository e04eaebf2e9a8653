"""Memory that judge and worker share: slots with guard zones between them, used again from call to call."""

from __future__ import annotations

import fcntl
import mmap
import os
import tempfile
from dataclasses import dataclass

CAPACITY = 1 << 36  # of addresses; memory is only taken where a slot is written
GAP = 1 << 16  # between slots: no access in the worker, wide enough for a stray row or tile
PAGE = mmap.PAGESIZE
CANARY = {1: b"\xa5", 2: b"\xff", 3: b"\xa5"}  # in each run, what of a slot is no array's
_BLOCK = 512  # bytes: what st_blocks counts
_KEPT = 1 << 27  # bytes in slots before the next call starts with other ones
_HELD = 1 << 30  # bytes of memory that other slots are laid over: to have it anew takes longer than many a call


@dataclass(frozen=True)
class Slot:
    """From `start` to `stop`, whole pages; GAP bytes on either side belong to no slot."""

    start: int
    stop: int


class Arena:
    """The judge's side.  `memory[a:b]` are the bytes between two offsets; the worker maps the same file."""

    def __init__(self) -> None:
        self.file = _shared_file()
        self._keeps_size = _size_for_good(self.file)
        self.memory = mmap.mmap(self.file, CAPACITY)
        self._forget()

    def _forget(self) -> None:
        self.slots: list[Slot] = []
        self._by_size: dict[int, list[Slot]] = {}
        self._used: dict[int, int] = {}
        self._bytes = 0  # of all slots
        self._end = PAGE + GAP  # the first page is for messages

    def begin(self) -> bool:
        """Make every slot free again; True where the slots known so far are no more."""
        self._used.clear()
        is_much = os.fstat(self.file).st_blocks * _BLOCK > _HELD  # a candidate may have written where no slot is
        if self._bytes <= _KEPT and not is_much:
            return False
        self._forget()
        if is_much:
            self._give_back()
        return True

    def _give_back(self) -> None:
        """Have no memory at all."""
        if self._keeps_size:
            self.memory.madvise(mmap.MADV_REMOVE)
        else:
            os.ftruncate(self.file, 0)
            os.ftruncate(self.file, CAPACITY)

    def take(self, size: int) -> Slot:
        """Return a slot of at least `size` bytes that this call does not use yet."""
        length = max(PAGE, 1 << (size - 1).bit_length())
        slots, used = self._by_size.setdefault(length, []), self._used.get(length, 0)
        self._used[length] = used + 1
        if used < len(slots):
            return slots[used]
        slot = Slot(self._end, self._end + length)
        if slot.stop + GAP > CAPACITY:
            raise MemoryError(f"the arrays of one call need more than {CAPACITY} bytes of addresses")
        self._end = slot.stop + GAP
        self._bytes += length
        slots.append(slot)
        self.slots.append(slot)
        return slot

    def close(self) -> None:
        self.memory.close()
        os.close(self.file)


def _size_for_good(file: int) -> bool:
    """Give the file its size, for ever where that can be: reading what a candidate has cut off would end the judge."""
    os.ftruncate(file, CAPACITY)
    if not hasattr(fcntl, "F_ADD_SEALS"):
        return False
    fcntl.fcntl(file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
    return True


def _shared_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("assayer", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
