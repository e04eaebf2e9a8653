"""In the worker's process: one call again and again, compared with the first, and what the process holds meanwhile.

What comes back are numbers and words; the outputs of the call that was made last lie in the arena.
"""

from __future__ import annotations

import contextlib
import os
import re
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import NamedTuple

from bindings.shared_object.foreign import of_process, taken_from_malloc

from .memory import HostMemory, Range

PROGRESS = 8  # where in the arena's first page the number of the call stands
_STATM = Path("/proc/self/statm")  # of Linux: pages of addresses, of memory, of memory that is shared
_ROLLUP = Path("/proc/self/smaps_rollup")  # the same from the page tables, and more
_ANONYMOUS = re.compile(rb"^Anonymous: +(\d+) kB", re.MULTILINE)
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


class Held(NamedTuple):
    """How many bytes the process has: of addresses, of memory of its own, and from malloc; where nothing tells, 0."""

    addresses: int
    memory: int
    from_malloc: int


class Pace(NamedTuple):
    """How many calls are made, in how many windows, in how many seconds of processor time together.

    Where calls are slow a window has fewer.
    """

    calls: int
    windows: int
    seconds: float

    def window(self, cost: float) -> int:
        """Return how many calls a window has, where each takes so many seconds of processor time."""
        affordable = self.seconds / self.windows / cost if cost > 0 else self.calls
        return max(1, min(self.calls // self.windows, int(affordable)))


class Repetition:
    """A call made again and again until it fails, gives other bits (exact), or memory runs short.

    made, code: how many there were, and the last one's code.  differs: whether it gave other bits than the first.
    window: how many calls a window has.  held: what the process held after the first call and after each window.
    late: whether outputs changed once the first had returned.  refused: whether it is a call that fails.
    """

    def __init__(self, call: Repeatable, pace: Pace, exact: bool, refused: bool = False) -> None:
        self.call, self.pace, self.exact, self._refused = call, pace, exact, refused
        self.made, self.window, self.differs, self._most = 1, 1, False, pace.calls
        threads = _threads()
        self.code = call.first()
        self.late = self.code == 0 and _goes_on(call, threads)
        call.settle()
        give_back()
        self._gauge = Gauge()
        self.held = [self._gauge.read()]
        self._first = self._gauge.resident()

    @property
    def is_over(self) -> bool:
        """Whether no more calls are to be made."""
        return self.made >= self._most or self._has_failed or self.differs or self._is_much

    @property
    def _has_failed(self) -> bool:
        return self.code != 0 and not self._refused

    @property
    def _is_much(self) -> bool:
        return self._gauge.resident() - self._first > MOST_GROWTH

    def go_on(self, seconds: float) -> None:
        """Make calls until they are over, or for so many seconds of a clock's."""
        until = time.monotonic() + seconds
        while not self.is_over and time.monotonic() < until:
            self._make()

    def _make(self) -> None:
        self.made += 1
        struct.pack_into("q", self.call.memory.progress, PROGRESS, self.made)
        began = time.process_time()
        self.code = self.call.make()
        if self.made == 2:  # the first prepares what the others use
            self.window = self.pace.window(time.process_time() - began)
            self._most = min(self._most, self.window * self.pace.windows)
        self.differs = self.exact and self.code == 0 and self.call.differs
        if self.made % self.window == 0:
            self.call.settle()
        if self.made % self.window == 0 or self._is_much:
            self.held.append(self._gauge.read())

    def told(self) -> tuple[int, int, bool, list[Held], int, bool, bool]:
        """What the judge is told; the last: whether it is over."""
        return self.made, self.code, self.differs, self.held, self.window, self.late, self.is_over


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
    """Reads what the process holds."""

    def __init__(self) -> None:
        self._page = os.sysconf("SC_PAGE_SIZE")
        self._quick, self._exact = _opened(_STATM), _opened(_ROLLUP)
        self._text = bytearray(4096)  # to read is to take no memory

    def read(self) -> Held:
        """Return all of it, to the page: of the words that are quick to read some Linux lag behind by many pages."""
        addresses, about = self._pages()
        return Held(addresses, self._anonymous() or about, taken_from_malloc())

    def resident(self) -> int:
        """Return about how many bytes of memory of its own the process has, quickly."""
        return self._pages()[1]

    def _pages(self) -> tuple[int, int]:
        if self._quick is None:
            return 0, 0
        size, resident, shared = map(int, os.pread(self._quick.fileno(), 128, 0).split()[:3])
        return size * self._page, (resident - shared) * self._page

    def _anonymous(self) -> int:
        """Bytes of pages that are of no file and no other process's; 0 where the system does not tell."""
        if self._exact is None:
            return 0
        os.preadv(self._exact.fileno(), [self._text], 0)
        found = _ANONYMOUS.search(self._text)
        return int(found[1]) << 10 if found else 0


def _opened(path: Path) -> FileIO | None:
    """A file that stays open as long as what is returned; None where the system has none."""
    try:
        return FileIO(path)
    except OSError:
        return None
