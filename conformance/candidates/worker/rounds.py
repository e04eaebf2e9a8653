"""In the worker's process: one call again and again, compared with the first.

What comes back are numbers and words; the outputs of the call that was made last lie in the arena.
"""

from __future__ import annotations

import contextlib
import os
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from bindings.shared_object.foreign import of_process

from .memory import HostMemory, Range

PROGRESS = 8  # where in the arena's first page the number of the call stands
_STATM = Path("/proc/self/statm")  # of Linux: pages of addresses, of memory, of memory that is shared
_TASKS = Path("/proc/self/task")
_AWHILE_S, _LONG_S = 0.005, 0.1  # a thread that goes on after the call is seen to
MOST_GROWTH = 1 << 30  # bytes that the process may grow by before the calls end: the machine has other work


def _nothing() -> None:
    """What a library needs."""


@dataclass
class Repeatable:
    """A call that is made on the same contents each time.

    written, results: the parts of the arena that are put back before it, and those that are compared after it.
    settle: what is done before memory is looked at.
    """

    memory: HostMemory
    entry: Callable[[], int]
    carried: Sequence[tuple[int, int, int]]
    written: Sequence[Range]
    results: Sequence[Range]
    stream: int | None = None
    settle: Callable[[], None] = _nothing
    _before: list[bytes] = field(init=False)
    alone: list[bytes] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self._before = [bytes(self.memory.progress[start:stop]) for start, stop in self.written]

    def make(self) -> int:
        """Make the call and return its code."""
        for (start, stop), content in zip(self.written, self._before, strict=True):
            self.memory.progress[start:stop] = content
        return self.memory.around(self.entry, self.carried, self.stream)

    def first(self) -> int:
        """Make the call, and keep what it gives for the others to be compared with."""
        code = self.make()
        self.alone = self._given()
        return code

    @property
    def differs(self) -> bool:
        """Whether the last call gave other bits than the first."""
        return self._given() != self.alone

    def _given(self) -> list[bytes]:
        return [bytes(self.memory.progress[start:stop]) for start, stop in self.results]


def repeat(call: Repeatable, count: int, window: int, seconds: float, exact: bool) -> tuple[Any, ...]:
    """Make a call so many times, or until the time is up, it fails, gives other bits (exact), or memory runs short.

    Returns how many were made, the last one's code, whether it gave other bits than the first, what `Gauge` read after
    the first and after each window of calls, and whether outputs changed once the first had returned.
    """
    until = time.monotonic() + seconds
    threads = _threads()
    code, differs, made = call.first(), False, 1
    late = code == 0 and _goes_on(call, threads)
    call.settle()
    give_back()
    with Gauge() as gauge:
        first = gauge.read()
        held = [first]
        while made < count and code == 0 and not differs and time.monotonic() < until:
            made += 1
            struct.pack_into("q", call.memory.progress, PROGRESS, made)
            code = call.make()
            differs = exact and code == 0 and call.differs
            if made % window == 0:
                call.settle()
            now = gauge.read()
            if made % window == 0 or now[1] - first[1] > MOST_GROWTH:
                held.append(now)
            if now[1] - first[1] > MOST_GROWTH:
                break
    return made, code, differs, held, late


def _goes_on(call: Repeatable, threads: int) -> bool:
    """Whether outputs change once a call has returned, before which there were so many threads."""
    until = time.monotonic() + _LONG_S
    time.sleep(_AWHILE_S)
    while _threads() > threads and time.monotonic() < until and not call.differs:
        time.sleep(_AWHILE_S)  # threads that the call has started may not have had their turn
    return call.differs


def _threads() -> int:
    return len([*_TASKS.iterdir()]) if _TASKS.is_dir() else 1


def give_back() -> None:
    """Give what malloc holds unused back to the system, where it can: a leak would be filled from that, unseen."""
    with contextlib.suppress(AttributeError):
        of_process("malloc_trim", ("size_t",))(0)


class Gauge:
    """Reads how many bytes of addresses, and of memory that is its own, the process has; where no system tells, 0."""

    def __enter__(self) -> Self:
        self._file = os.open(_STATM, os.O_RDONLY) if _STATM.exists() else -1
        self._page = os.sysconf("SC_PAGE_SIZE")
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if self._file >= 0:
            os.close(self._file)

    def read(self) -> tuple[int, int]:
        if self._file < 0:
            return 0, 0
        size, resident, shared = map(int, os.pread(self._file, 128, 0).split()[:3])
        return size * self._page, (resident - shared) * self._page
