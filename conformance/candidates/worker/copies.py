"""The judge's handle on processes that are started as copies of one that is ready (starter.py).

A library that fails is started again and again, and to start Python, load what a worker needs and read the header
takes ten times as long as a copy.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import weakref
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from typing import Any

_START_S = 60.0
_FOREVER_S = 1e9


class Starter:
    """Starts copies, all of which have one environment and what the prefix, a command that starts it, has set.

    Used in the process that has made it.
    """

    def __init__(self, environment: Mapping[str, str], prefix: Sequence[str]) -> None:
        self.environment, self.prefix, self.judge = dict(environment), tuple(prefix), os.getpid()
        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(
                [*prefix, sys.executable, "-u", "-m", f"{__package__}.starter", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env=self.environment,
                start_new_session=True,
            )
        self._files, self._link = ours, Connection(os.dup(ours.fileno()))
        weakref.finalize(self, _end, self.judge, process, self._files, self._link)

    def start(self, files: tuple[int, int, int], capacity: int, path: str) -> Copy:
        """Start a copy that serves the library at `path`; files: its connection, arena and output.

        Raises OSError or EOFError where the starter itself has ended.
        """
        self._link.send(("start", capacity, path))
        socket.send_fds(self._files, [b"\0"], files)
        if not self._link.poll(_START_S):
            raise EOFError(f"no copy of {__package__}.starter in {_START_S:g} s")
        return Copy(self, self._link.recv())

    def ended(self, pid: int, seconds: float) -> int | None:
        """Return a copy's exit code, None where it goes on for so long."""
        try:
            self._link.send(("wait", pid, seconds))
            code: int | None = self._link.recv()
        except (EOFError, OSError):  # copies end with the starter
            return -signal.SIGKILL
        return code


class Copy:
    """One process that a starter has started; it is waited for as subprocess.Popen is."""

    def __init__(self, starter: Starter, pid: int) -> None:
        self._starter, self.pid = starter, pid
        self._code: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code, negative for a signal.  Raises subprocess.TimeoutExpired."""
        if self._code is None:
            self._code = self._starter.ended(self.pid, _FOREVER_S if timeout is None else timeout)
        if self._code is None:
            raise subprocess.TimeoutExpired(f"a copy of {__package__}.starter", timeout or 0.0)
        return self._code


_latest: list[Starter] = []


def copy(
    environment: Mapping[str, str], prefix: Sequence[str], files: tuple[int, int, int], capacity: int, path: str
) -> Copy:
    """Start a copy of the starter of this environment and prefix; one that is missing is made."""
    own = [one for one in _latest if one.judge == os.getpid()]
    known = [one for one in own if (one.environment, one.prefix) == (environment, tuple(prefix))]
    for starter in known:
        try:
            return starter.start(files, capacity, path)
        except (EOFError, OSError):  # somebody has killed it
            break
    _latest[:] = [Starter(environment, prefix)]
    return _latest[0].start(files, capacity, path)


def _end(judge: int, process: subprocess.Popen[Any], files: socket.socket, link: Connection) -> None:
    """Close the connection, which ends the starter; in a copy of the judge, that is all there is to do."""
    files.close()
    link.close()
    if os.getpid() == judge:
        process.wait()
    else:
        process.returncode = 0  # it is another's child
