"""The worker's own process: opens the library and makes the calls it is told to.

It is a copy of starter.py's.  Requests are pickled tuples, the first entry says which; replies are data alone
(replies.py).  The first says what the process is kept from, before anything of the candidate is run.
"""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from typing import Any

from bindings import LibraryError, read_header
from bindings.shared_object.foreign import of_process
from bindings.shared_object.opened import Opened
from conformance.candidates.module import source
from conformance.candidates.sandbox import restrictions
from conformance.candidates.sandbox.environment import at_home
from conformance.candidates.sandbox.limits import limit
from conformance.candidates.sandbox.system import control

from .answers import Child
from .memory import DeviceMemory, HostMemory
from .messages import send
from .order import Order
from .replies import pack
from .surroundings import Surroundings

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4  # <linux/prctl.h>


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


def serve(connection: int, file: int, order: Order, before: restrictions.Entered) -> None:
    """Open the library and answer requests; before: what the process was shut off from when it was started."""
    end_with_the_judge()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the judge ends its workers
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    send(connection, pack("restricted", _restricted(order, before)))
    found = Surroundings((connection, file))
    try:
        opened, kind = _opened(order.candidate)
        memory = _memory(file, order.capacity, opened)
    except LibraryError as error:
        send(connection, pack("refused", (type(error).__name__, str(error))))
        return
    found.open()
    send(connection, pack("ready", (memory.base, opened.facts)))
    kind(connection, opened, memory, found).serve()


def _restricted(order: Order, before: restrictions.Entered) -> list[str]:
    """Restrict this process, unless its candidate is trusted; return what it is kept from."""
    if order.walls is None:
        limit(is_own_user=False)
        return []
    with contextlib.suppress(OSError):
        control(_PR_SET_DUMPABLE, 1)  # its keeper is closed; what it reads of itself in /proc is open again
    os.environ.update(at_home(order.walls.scratch))
    return [str(held) for held in restrictions.restrict(order.walls, before)]
