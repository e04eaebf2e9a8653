"""The arena as the library sees it: on a host the pages themselves, else copies in the device's memory."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Sequence

from bindings import CallError
from bindings.shared_object.foreign import address, from_buffer, of_process, pointer
from bindings.shared_object.services import Services

from .arena import CANARY

Range = tuple[int, int]
_BEYOND = 4096  # bytes before and behind a copy; keeps what alignment the device's allocations have


class HostMemory:
    """No access but where it is opened."""

    def __init__(self, file: int, capacity: int) -> None:
        self._mprotect = of_process("mprotect", ("void*", "size_t", "int"))
        self._map = mmap.mmap(file, capacity, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        self.base = address(from_buffer(self._map))
        self.progress = memoryview(self._map)
        self._protect(mmap.PAGESIZE, capacity, 0)

    def _protect(self, start: int, stop: int, access: int) -> None:
        if self._mprotect(pointer(self.base + start), stop - start, access):
            raise OSError("mprotect failed")

    def open(self, ranges: Sequence[Range]) -> None:
        for start, stop in ranges:
            self._protect(start, stop, mmap.PROT_READ | mmap.PROT_WRITE)

    def close(self, ranges: Sequence[Range]) -> None:
        for start, stop in ranges:
            self._protect(start, stop, 0)

    def place(self, slots: Sequence[Range]) -> list[int]:
        """Open new slots for good; return their addresses."""
        self.open(slots)
        return [self.base + start for start, _ in slots]

    def forget(self) -> None:
        """Close all slots."""
        self.close([(mmap.PAGESIZE, len(self._map))])

    def stream(self, run: int) -> int | None:
        """On which stream a call is made in a run (buffers.py): None for the default one, which alone a host has."""
        return None

    def around(
        self, call: Callable[[], int], carried: Sequence[tuple[int, int, int]], stream: int | None = None
    ) -> int:
        """Make a call; carried: for each array the beginning of its slot, and from where to where it matters.

        stream: that of the call, None for the default one.
        """
        return call()


class DeviceMemory(HostMemory):
    """Every slot has its copy on the device, made before a call and taken back after it.

    Beyond a copy's ends lies a canary too: what is read there is not left to chance, and shows in the second run.  Host
    pages are closed meanwhile, but those that hold host arrays: a library that reads them is found.
    """

    def __init__(self, file: int, capacity: int, services: Services) -> None:
        super().__init__(file, capacity)
        self._services = services
        self._copies: dict[int, tuple[int, int]] = {}  # by the slot's beginning: its end, and where its copy lies
        self._own_stream = services.stream_create() if services.has("stream_create") else None

    def place(self, slots: Sequence[Range]) -> list[int]:
        super().place(slots)
        for start, stop in slots:
            block = self._services.allocate(stop - start + 2 * _BEYOND)
            self._services.fill(block, CANARY[1][0], stop - start + 2 * _BEYOND, None)
            self._copies[start] = stop, block + _BEYOND
        return [self._copies[start][1] for start, _ in slots]

    def forget(self) -> None:
        super().forget()
        for _, copy in self._copies.values():
            self._services.free(copy - _BEYOND)
        self._copies.clear()

    def stream(self, run: int) -> int | None:
        """In run 2 one of its own, which does not wait for the default one: a library may forget its argument."""
        return self._own_stream if run == 2 else None

    def around(
        self, call: Callable[[], int], carried: Sequence[tuple[int, int, int]], stream: int | None = None
    ) -> int:
        """Make a call; what goes wrong on the device, also later than the call, is its code."""
        slots = [(slot, self._copies[slot][0]) for slot, _, _ in carried]
        try:
            for there, here, size in self._pairs(carried):
                self._services.copy(there, here, size, stream)
            self._services.synchronize(stream)
            self.close(slots)
            code = call()
            self._services.synchronize(stream)
            self.open(slots)
            for there, here, size in self._pairs(carried):
                self._services.copy(here, there, size, stream)
            self._services.synchronize(stream)
        except CallError as error:
            self.open(slots)
            return error.code
        return code

    def _pairs(self, carried: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
        """For each part: its address on the device, on the host, and its size in bytes."""
        return [
            (self._copies[slot][1] + start - slot, self.base + start, stop - start) for slot, start, stop in carried
        ]
