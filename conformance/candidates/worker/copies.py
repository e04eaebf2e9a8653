"""The judge's handle on workers' processes, which are copies of one that is ready (starter.py).

A library that fails is started again and again, and to start Python, load what a worker needs and read the header
takes ten times as long as a copy.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import weakref
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from typing import Any

from conformance.candidates.sandbox import keeper as keeper_

from .messages import UnexpectedError, receive
from .order import Order

_MOST = 1 << 12  # bytes of a keeper's last word
LOST = keeper_.End(0, 0, "its keeper was ended from outside")


class Starter:
    """Starts copies, all of which have one environment and what the prefix, a command that starts it, has set.

    Used in the process that has made it.
    """

    def __init__(self, environment: Mapping[str, str], prefix: Sequence[str]) -> None:
        self.environment, self.prefix, self.judge = dict(environment), tuple(prefix), os.getpid()
        ours, theirs = socket.socketpair()
        # -P: a folder of the caller's, a clone's own for one, may hold a package of this one's name.
        python = [sys.executable, "-P", "-u", "-m"]
        with theirs:
            self.process = subprocess.Popen(
                [*prefix, *python, f"{__package__}.starter", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env=self.environment,
                start_new_session=True,
            )
        self._files, self._link = ours, Connection(os.dup(ours.fileno()))
        weakref.finalize(self, _end, self.judge, self.process, self._files, self._link)

    def start(self, order: Order, files: tuple[int, int, int]) -> Copy:
        """Start a copy; files: its connection, arena and output.  Raises OSError where the starter itself has ended."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._link.send(order)
                socket.send_fds(self._files, [b"\0"], [*files, theirs.fileno()])
            except OSError:
                ours.close()
                raise
        return Copy(self, ours)


class Copy:
    """One process that a starter has started, and its keeper, with which a connection is held."""

    def __init__(self, starter: Starter, keeper: socket.socket) -> None:
        self._starter, self._keeper = starter, keeper
        self._end: keeper_.End | None = None

    def wait(self, seconds: float) -> keeper_.End | None:
        """Return how the process ended, None where it goes on for so long."""
        if self._end is None:
            try:
                self._end = keeper_.read(receive(self._keeper.fileno(), seconds, _MOST))
            except TimeoutError:
                return None
            except (EOFError, OSError, UnexpectedError):  # copies end with the starter
                self._end = LOST
        return self._end

    def end(self, seconds: float) -> keeper_.End:
        """Have the process ended, and all that it has started."""
        if self._keeper.fileno() >= 0:
            self._keeper.shutdown(socket.SHUT_WR)
            self.wait(seconds)
            self._keeper.close()
        return self._end or LOST


_latest: list[Starter] = []


def copy(environment: Mapping[str, str], prefix: Sequence[str], order: Order, files: tuple[int, int, int]) -> Copy:
    """Start a copy of the starter of this environment and prefix; one that is missing is made."""
    own = [one for one in _latest if one.judge == os.getpid()]
    known = [one for one in own if (one.environment, one.prefix) == (environment, tuple(prefix))]
    for starter in known:
        try:
            return starter.start(order, files)
        except OSError:  # somebody has killed it
            break
    _latest[:] = [Starter(environment, prefix)]
    return _latest[0].start(order, files)


def _end(judge: int, process: subprocess.Popen[Any], files: socket.socket, link: Connection) -> None:
    """Close the connection, which ends the starter; in a copy of the judge, that is all there is to do."""
    files.close()
    link.close()
    if os.getpid() == judge:
        process.wait()
    else:
        process.returncode = 0  # it is another's child
