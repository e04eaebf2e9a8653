"""The worker's own process: opens the library and makes the calls it is told to.

    python -m conformance.worker.child CONNECTION ARENA CAPACITY LIBRARY

The first two are file descriptors.  Requests and replies are pickled tuples, the first entry says which.
"""

from __future__ import annotations

import contextlib
import importlib
import mmap
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import cffi

from bindings import Library, LibraryError
from bindings.foreign import address, from_buffer, pointer

_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
_LARGEST_FILE = 1 << 26  # bytes: a library that floods its output is stopped by SIGXFSZ


class Memory:
    """The arena as the library sees it: no access but where it is opened."""

    def __init__(self, file: int, capacity: int) -> None:
        self._libc: Any = cffi.FFI()
        self._libc.cdef("int mprotect(void*, size_t, int);")
        process: Any = self._libc.dlopen(None)
        self._mprotect = process.mprotect
        self._map = mmap.mmap(file, capacity, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        self.base = address(from_buffer(self._map))
        self.progress = memoryview(self._map)
        self._protect(mmap.PAGESIZE, capacity, 0)

    def _protect(self, start: int, stop: int, access: int) -> None:
        if self._mprotect(pointer(self.base + start), stop - start, access):
            raise OSError("mprotect failed")

    def open(self, ranges: Sequence[tuple[int, int]]) -> None:
        for start, stop in ranges:
            self._protect(start, stop, mmap.PROT_READ | mmap.PROT_WRITE)

    def close(self, ranges: Sequence[tuple[int, int]]) -> None:
        for start, stop in ranges:
            self._protect(start, stop, 0)


class Child:
    """Answers requests until the connection ends."""

    def __init__(self, connection: Connection, memory: Memory, path: Path) -> None:
        self.connection, self.memory, self.library = connection, memory, Library(path)

    def run(
        self,
        symbol: str,
        types: tuple[str, ...],
        runs: Sequence[tuple[int, list[Any]]],
        slots: list[tuple[int, int]],
        gaps: list[tuple[int, int]],
    ) -> tuple[Any, ...]:
        """Make the call once for each list of raw arguments; `slots` are opened for good, `gaps` for these runs."""
        self.memory.open(slots)  # whatever comes of this call: the judge counts on them from now on
        entry = self.library.entry(symbol, types)
        if entry is None:
            return ("missing",)
        self.memory.open(gaps)
        codes = []
        for number, values in runs:
            raw = [pointer(value) if kind == "void*" else value for kind, value in zip(types, values, strict=True)]
            self.memory.progress[0] = number
            codes.append(entry(*raw))
        self.memory.progress[0] = 0
        self.memory.close(gaps)
        return ("done", codes)

    def call(self, target: str, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """Call a Python function, "package.module:function", with the open library first."""
        module, _, name = target.partition(":")
        function: Callable[..., Any] = getattr(importlib.import_module(module), name)
        return ("done", function(self.library, *arguments))

    def serve(self) -> None:
        while True:
            try:
                kind, seconds, arguments = self.connection.recv()
            except EOFError:
                return
            # Should the judge be killed meanwhile, a hanging library ends all the same.
            signal.setitimer(signal.ITIMER_REAL, seconds + 1)
            try:
                reply = self.run(*arguments) if kind == "run" else self.call(*arguments)
            except Exception:
                reply = ("raised", traceback.format_exc())
            signal.setitimer(signal.ITIMER_REAL, 0)
            self.connection.send(reply)


def _end_with_the_judge() -> None:
    """Where the kernel offers it (Linux): a library that hangs is killed when the judge that started it ends."""
    process: Any = cffi.FFI()
    process.cdef("int prctl(int, unsigned long, unsigned long, unsigned long, unsigned long);")
    with contextlib.suppress(AttributeError):
        process.dlopen(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def main() -> None:
    connection, file, capacity, path = sys.argv[1:]
    _end_with_the_judge()
    link = Connection(int(connection))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the judge ends its workers
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (_LARGEST_FILE, _LARGEST_FILE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        child = Child(link, Memory(int(file), int(capacity)), Path(path))
    except LibraryError as error:
        link.send(("refused", str(error)))
        return
    link.send(("ready", child.memory.base))
    child.serve()


if __name__ == "__main__":
    main()
