"""The worker's own process: opens the library and makes the calls it is told to.

    python -m conformance.candidates.worker.child CONNECTION ARENA CAPACITY LIBRARY

The first two are file descriptors.  Requests and replies are pickled tuples, the first entry says which.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from bindings import LibraryError, read_header
from bindings.shared_object.foreign import of_process, pointer
from bindings.shared_object.opened import Opened

from .memory import DeviceMemory, HostMemory, Range
from .recorder import Recorder
from .rounds import Repeatable, Rounds, Together, repeat
from .surroundings import Surroundings

# Raw arguments, the parts of the arena that matter, those that are put back before a call, those that are compared.
Task = tuple[list[Any], list[tuple[int, int, int]], list[Range], list[Range]]
_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
_LARGEST_FILE = 1 << 26  # bytes: a library that floods its output is stopped by SIGXFSZ


class Child:
    """Answers requests until the connection ends; `found`: what the process was like before the library was opened."""

    def __init__(self, connection: Connection, opened: Opened, memory: HostMemory, found: Surroundings) -> None:
        self.connection, self.opened, self.memory, self.found = connection, opened, memory, found

    @functools.cached_property
    def library(self) -> Any:
        """The library as Python functions."""
        from bindings import Library  # here: NumPy takes as long to load as all else that a worker needs

        return Library(self.opened.path)

    @functools.cached_property
    def recorder(self) -> Recorder:
        """What the library notes of its calls, if it does."""
        return Recorder(self.opened.object)

    def place(self, slots: list[tuple[int, int]]) -> tuple[Any, ...]:
        """Open new slots of the arena for good, and return their addresses."""
        return ("done", self.memory.place(slots))

    def forget(self) -> tuple[Any, ...]:
        """Close all slots: the arena begins anew."""
        self.memory.forget()
        return ("done",)

    def run(
        self,
        symbol: str,
        types: tuple[str, ...],
        runs: Sequence[tuple[int, list[Any], list[tuple[int, int, int]]]],
        gaps: list[tuple[int, int]],
    ) -> tuple[Any, ...]:
        """Make the call once for each number, list of raw arguments and parts of the arena; `gaps` open meanwhile."""
        entry = self.opened.object.entry(symbol, types)
        if entry is None:
            return ("missing",)
        self.memory.open(gaps)
        codes = []
        for number, values, carried in runs:
            self.memory.progress[0] = number
            codes.append(self.memory.around(functools.partial(entry, *_raw(types, values)), carried))
        self.memory.progress[0] = 0
        self.memory.close(gaps)
        return ("done", codes)

    def repeat(
        self, symbol: str, types: tuple[str, ...], task: Task, count: int, window: int, seconds: float, exact: bool
    ) -> tuple[Any, ...]:
        """Make one call so many times (rounds.py); say also what of the process is no longer as it was."""
        entry = self.opened.object.entry(symbol, types)
        if entry is None:
            return ("missing",)
        values, carried, written, results = task
        call = Repeatable(self.memory, functools.partial(entry, *_raw(types, values)), carried, written, results)
        return ("done", repeat(call, count, window, seconds, exact), list(self.found.changed()))

    def together(
        self, symbol: str, types: tuple[str, ...], tasks: list[Task], rounds: Rounds, exact: bool
    ) -> tuple[Any, ...]:
        """Make calls at once (rounds.py), each on a stream of its own where the library has streams."""
        entry = self.opened.object.entry(symbol, types)
        if entry is None:
            return ("missing",)
        services = self.opened.services
        with contextlib.ExitStack() as streams:
            calls = []
            for values, carried, written, results in tasks:
                stream = services.stream_create() if services.has("stream_create") else None
                if stream is not None:
                    streams.callback(services.stream_destroy, stream)
                raw = _raw(types, [*values[:-1], stream or 0])  # the stream is every operation's last argument
                calls.append(Repeatable(self.memory, functools.partial(entry, *raw), carried, written, results, stream))
            return ("done", Together(calls, rounds, exact).run())

    def reached(self) -> tuple[Any, ...]:
        """Say what the calls since the last time have reached, where the library was compiled for that."""
        return ("done", self.recorder.news())

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
                answer: Callable[..., tuple[Any, ...]] = getattr(self, kind)  # place, forget, run, repeat ...
                reply = answer(*arguments)
            except Exception:
                reply = ("raised", traceback.format_exc())
            signal.setitimer(signal.ITIMER_REAL, 0)
            self.connection.send(reply)


def _raw(types: Sequence[str], values: Sequence[Any]) -> list[Any]:
    """Arguments as an entry takes them: addresses as pointers."""
    return [pointer(value) if kind == "void*" else value for kind, value in zip(types, values, strict=True)]


def end_with_the_judge() -> None:
    """Where the kernel offers it (Linux): a library that hangs is killed when the judge that started it ends."""
    with contextlib.suppress(AttributeError):
        of_process("prctl", ("int", *["unsigned long"] * 4))(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _memory(file: int, capacity: int, opened: Opened) -> HostMemory:
    return DeviceMemory(file, capacity, opened.services) if opened.facts.on_device else HostMemory(file, capacity)


def main() -> None:
    connection, file, capacity, path = sys.argv[1:]
    serve(int(connection), int(file), int(capacity), path)


def serve(connection: int, file: int, capacity: int, path: str) -> None:
    """Open the library and answer requests."""
    end_with_the_judge()
    link = Connection(connection)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the judge ends its workers
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (_LARGEST_FILE, _LARGEST_FILE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    found = Surroundings()
    try:
        opened = Opened(Path(path), read_header())
        memory = _memory(file, capacity, opened)
    except LibraryError as error:
        link.send(("refused", error))
        return
    link.send(("ready", (memory.base, opened.facts)))
    Child(link, opened, memory, found).serve()


if __name__ == "__main__":
    main()
