"""The worker's own process: opens the library and makes the calls it is told to.

    python -m conformance.candidates.worker.child CONNECTION ARENA CAPACITY LIBRARY

The first two are file descriptors; the last is a library's path, or the words for a module of Python
(module/source.py).  Requests are pickled tuples, the first entry says which; replies are data alone (replies.py).
"""

from __future__ import annotations

import contextlib
import resource
import signal
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from bindings import LibraryError, read_header
from bindings.shared_object.foreign import of_process
from bindings.shared_object.opened import Opened
from conformance.candidates.module import source

from .answers import Child
from .memory import DeviceMemory, HostMemory
from .messages import send
from .replies import pack
from .surroundings import Surroundings

_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
_LARGEST_FILE = 1 << 26  # bytes: a library that floods its output is stopped by SIGXFSZ


def end_with_the_judge() -> None:
    """Where the kernel offers it (Linux): a library that hangs is killed when the judge that started it ends."""
    with contextlib.suppress(AttributeError):
        of_process("prctl", ("int", *["unsigned long"] * 4))(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _opened(words: str) -> tuple[Any, type[Child]]:
    """Open a library, or import a module."""
    module = source.read(words)
    if module is None:
        return Opened(Path(words), read_header()), Child
    from conformance.candidates.module.child import ModuleChild, OpenedModule  # here: it needs NumPy

    return OpenedModule(module, read_header()), ModuleChild


def _memory(file: int, capacity: int, opened: Any) -> HostMemory:
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
        opened, kind = _opened(path)
        memory = _memory(file, capacity, opened)
    except LibraryError as error:
        send(link.fileno(), pack("refused", (type(error).__name__, str(error))))
        return
    send(link.fileno(), pack("ready", (memory.base, opened.facts)))
    kind(link, opened, memory, found).serve()


if __name__ == "__main__":
    main()
