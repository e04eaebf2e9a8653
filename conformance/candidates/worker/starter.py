"""A process that has loaded what a worker needs and starts workers' processes as copies of itself.

    python -m conformance.candidates.worker.starter CONNECTION

The argument is a file descriptor.  No library is ever opened here, so that a copy is as new as a process can be.
A request is a pickled Order, followed by the files of the copy: its connection, the arena, its output, and what its
keeper (sandbox/keeper.py) has its last word on.  There are no replies: nothing that comes from below is read by more
than the judge itself.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import time
from collections.abc import Collection
from multiprocessing.connection import Connection

from bindings import read_header
from conformance.candidates.sandbox import keeper, namespaces
from conformance.candidates.sandbox.restrictions import Entered, is_trusted

from . import child
from .messages import send
from .order import Order

FILES = 4
_NONE = -1
_OFTEN_S, _LAST_S = 0.001, 5.0


def main() -> None:
    left = [] if is_trusted() else namespaces.leave()
    child.end_with_the_judge()
    read_header()  # which remembers it
    with socket.socket(fileno=int(sys.argv[1])) as files, Connection(os.dup(files.fileno())) as link:
        served = _serve(link, files, left)
    if served:  # as the last thing that this process does, be it the copy
        child.serve(*served)


def _serve(link: Connection, files: socket.socket, left: Collection[str]) -> tuple[int, int, Order, Entered] | None:
    """Start copies until the connection ends; return in a copy what it is to serve, else None."""
    while True:
        try:
            order: Order = link.recv()
            _, given, _, _ = socket.recv_fds(files, 1, FILES)
        except (EOFError, OSError):
            _forget_ended(_LAST_S)
            return None
        _forget_ended()
        connection, arena, *_ = given
        has_mounts = namespaces.NAMES[namespaces.MOUNTS] in left
        try:
            process, is_alone = namespaces.fork_first(has_mounts) if order.walls and left else (os.fork(), False)
        except OSError:  # the machine has no more: the judge is told by the end of the connections
            process, is_alone = _NONE, False
        if process == 0:
            files.close()
            link.close()
            if _keep(order, given, is_alone, has_mounts):
                return connection, arena, order, Entered(left, is_alone)
        for file in given:
            os.close(file)


def _forget_ended(seconds: float = 0.0) -> None:
    """Take leave of keepers that have ended; wait so long for those that have not."""
    until = time.monotonic() + seconds
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0] or time.monotonic() < until:
            time.sleep(_OFTEN_S if seconds else 0)


def _keep(order: Order, files: list[int], is_alone: bool, has_mounts: bool) -> bool:
    """Start the copy and return True there; this process keeps it, and never returns."""
    connection, arena, output, watch = files
    keeper.guard_against_orphans()
    has_own_folders = is_alone and has_mounts
    if order.walls and has_own_folders:
        namespaces.own_folders(order.walls.scratch)
    copied = os.fork()
    if copied == 0:
        os.close(watch)
        _take_over(output)
        return True
    for file in (connection, arena, output):
        os.close(file)
    memory, on_disk = (order.walls.memory, "" if has_own_folders else order.walls.scratch) if order.walls else (0, "")
    end = keeper.Keeper(copied, watch, memory, is_alone, on_disk).keep()
    with contextlib.suppress(OSError):
        send(watch, end.document)
    os._exit(0)


def _take_over(output: int) -> None:
    """Print to the output, read nothing, and be the first of a session."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDONLY)
    for ours, standard in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(ours, standard)
    os.close(nothing)
    os.close(output)


if __name__ == "__main__":
    main()
