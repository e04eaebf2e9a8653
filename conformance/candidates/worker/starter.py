"""A process that has loaded what a worker needs and starts workers' processes as copies of itself.

    python -m conformance.candidates.worker.starter CONNECTION

The argument is a file descriptor.  No library is ever opened here, so that a copy is as new as a process can be.
Requests are pickled tuples.  ("start", capacity, path) is followed by the copy's connection, arena and output; the copy
replies with its number.  ("wait", number, seconds) is replied to with its exit code, None where it goes on.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from multiprocessing.connection import Connection

from bindings import read_header

from . import child

_OFTEN_S = 0.001


def main() -> None:
    child.end_with_the_judge()
    read_header()  # which remembers it
    with socket.socket(fileno=int(sys.argv[1])) as files, Connection(os.dup(files.fileno())) as link:
        copied = _serve(link, files)
    if copied:  # as the last thing that this process does, be it the copy
        child.serve(*copied)


def _serve(link: Connection, files: socket.socket) -> tuple[int, int, int, str] | None:
    """Answer requests until the connection ends; return in a copy what it is to serve, else None."""
    while True:
        try:
            kind, *request = link.recv()
        except EOFError:
            return None
        if kind == "wait":
            link.send(_ended(*request))
            continue
        _, (connection, arena, output), _, _ = socket.recv_fds(files, 1, 3)
        if os.fork() == 0:
            _take_over(output)
            link.send(os.getpid())  # which from now on may be killed
            return connection, arena, *request
        for file in (connection, arena, output):
            os.close(file)


def _take_over(output: int) -> None:
    """Print to the output, read nothing, and be the first of a session: it is killed with all that it starts."""
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDONLY)
    for ours, standard in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(ours, standard)
    os.close(nothing)
    os.close(output)


def _ended(pid: int, seconds: float) -> int | None:
    """Wait for a copy; return its exit code, negative for a signal, or None where it goes on for so long."""
    until = time.monotonic() + seconds
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > until:
            return None
        time.sleep(_OFTEN_S)


if __name__ == "__main__":
    main()
