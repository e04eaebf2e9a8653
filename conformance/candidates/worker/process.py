"""The judge's handle on a worker's process: start, ask, tell how it ended."""

from __future__ import annotations

import contextlib
import os
import pickle
import secrets
import signal
import socket
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bindings import Facts, LibraryError, NoDevice
from conformance.candidates.sandbox.environment import without_secrets
from conformance.candidates.sandbox.limits import LARGEST_FILE
from conformance.candidates.sandbox.restrictions import is_trusted

from .arena import CAPACITY, Arena, Slot
from .copies import copy
from .messages import OPENING, UnexpectedError, receive, send_within
from .order import Order
from .replies import LARGEST, LARGEST_VALUE, GarbledError, unpack, unpack_value
from .room import Room

if TYPE_CHECKING:
    from .buffers import Buffer

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS", "GOMAXPROCS")
_POLITE = {"OMP_WAIT_POLICY": "passive"}  # threads that spin at a barrier take the cores from the other workers
_START_S = 60.0
_END_S = 10.0  # a sanitiser's report takes a while
GARBLED = "closed or garbled its connection to the judge"
_TOLD = 1000  # bytes at the beginning and at the end of what a library printed


class Ended(Exception):  # noqa: N818
    """The process is no more: `status` "crashed" with its signal in `reason`, or "timed out".  Or it ran short of
    something itself: "mishap"."""

    def __init__(self, status: Any, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


class Process:
    """One process with one library or module, which is open when something is asked of it.

    candidate: the library's path, or the words for a module.  prefix: a command that starts it.
    restricted: what the process is kept from, once it is open.
    """

    def __init__(
        self,
        candidate: str,
        arena: Arena,
        threads: int,
        environment: Mapping[str, str],
        prefix: Sequence[str] = (),
    ) -> None:
        self.candidate = candidate
        self.restricted: list[str] = []
        self._output = tempfile.TemporaryFile()  # noqa: SIM115
        self._room = None if is_trusted() else Room(candidate, environment)
        own = os.environ if self._room is None else without_secrets(os.environ)
        given = dict.fromkeys(_THREADS, str(threads)) | _POLITE | dict(environment)
        variables = own | given | {"PYTHONPATH": os.pathsep.join(sys.path)}
        self._connection, theirs = socket.socketpair()
        with theirs:
            order = Order(CAPACITY, candidate, self._room.walls if self._room else None)
            self._process = copy(variables, prefix, order, (theirs.fileno(), arena.file, self._output.fileno()))
        self._read = 0
        self._number = OPENING
        self._addresses: dict[int, int] = {}  # of the arena's slots, as the library sees them
        self._opened: tuple[int, Facts] | None = None

    @property
    def base(self) -> int:
        """Where the arena lies in the process.  Raises LibraryError."""
        return self._wait()[0]

    @property
    def facts(self) -> Facts:
        """What the library says of itself.  Raises LibraryError."""
        return self._wait()[1]

    def _wait(self) -> tuple[int, Facts]:
        """Wait until the library is open; until somebody asks, the judge has other things to do."""
        if self._opened is None:
            self._opened = self._start()
        return self._opened

    def _start(self) -> tuple[int, Facts]:
        try:
            _, self.restricted = self._receive("restrict", _START_S)
            kind, value = self._receive("open", _START_S)
        except Ended as error:
            said = "\n".join(filter(None, [error.reason, self.printed()]))
            self.close()
            path = self.candidate.splitlines()[-1]
            raise LibraryError(f"{path}: {error.status} while it was opened: {said}") from None
        if kind == "refused":
            self.close()
            of_kind, text = value
            raise (NoDevice if of_kind == NoDevice.__name__ else LibraryError)(text)
        base, facts = value
        return base, facts

    def place(self, slots: Sequence[Slot], seconds: float) -> None:
        """Make the slots that are new known to the process, which opens them for good.  Raises Ended."""
        new = slots[len(self._addresses) :]
        if new:
            kind, addresses = self.ask("place", seconds, [(slot.start, slot.stop) for slot in new])
            if kind == "mishap":
                raise Ended(kind, addresses)
            if kind != "done":
                raise Ended("crashed", str(addresses).strip().splitlines()[-1])
            if len(addresses) != len(new):
                raise Ended("crashed", GARBLED)
            self._addresses |= zip((slot.start for slot in new), addresses, strict=True)

    def forget(self, seconds: float) -> None:
        """Close every slot: the arena begins anew.  A process that cannot do that has ended; the next call tells."""
        self._addresses.clear()
        with contextlib.suppress(Ended):
            self.ask("forget", seconds)

    def address(self, buffer: Buffer, run: int) -> int:
        """Return the address of a buffer in a run, as the library sees it."""
        if buffer.is_host:
            return self.base + buffer.start(run)
        slot = buffer.slots[run]
        return self._addresses[slot.start] + buffer.start(run) - slot.start

    def ask(self, kind: str, seconds: float, *arguments: Any) -> tuple[Any, ...]:
        """Send a request and return the reply.  Raises Ended."""
        self._wait()
        self._output.seek(0, os.SEEK_END)
        self._read = self._output.tell()
        self._number = secrets.randbits(64) or 1  # a reply that came before it was asked for has another
        request = pickle.dumps((kind, seconds, arguments))
        try:
            send_within(self._connection, request, seconds, self._number)
        except TimeoutError:
            raise Ended("timed out", f"took no request in {seconds:g} s") from None
        except BrokenPipeError:  # what became of it shows below
            pass
        return self._receive(kind, seconds)

    def _receive(self, kind: str, seconds: float) -> tuple[str, Any]:
        """Return the status of a reply, and what comes with it: of a call of a Python function, its value."""
        try:
            status, value = unpack(kind, self._bytes(seconds, LARGEST))
            if kind == "call" and status == "done":
                return status, unpack_value(self._bytes(seconds, LARGEST_VALUE))
        except GarbledError:
            raise Ended("crashed", GARBLED) from None
        return status, value

    def _bytes(self, seconds: float, most: int) -> bytes:
        try:
            return receive(self._connection.fileno(), seconds, most, self._number)
        except TimeoutError:
            raise Ended("timed out", f"no answer in {seconds:g} s") from None
        except UnexpectedError:
            raise Ended("crashed", GARBLED) from None
        except (EOFError, OSError):
            raise Ended("crashed", self._reason()) from None

    def _reason(self) -> str:
        """Say how the process ended; it is given a moment to."""
        end = self._process.wait(_END_S)
        if end is None:
            return GARBLED
        if end.reason:
            return end.reason
        if -end.code == signal.SIGXFSZ:
            return f"{signal.SIGXFSZ.name}, by more than {LARGEST_FILE >> 20} MiB printed or written"
        left = f", leaving {end.left} more of its processes to be ended" if end.left else ""
        return (signal.Signals(-end.code).name if end.code < 0 else f"exit status {end.code}") + left

    def printed(self) -> str:
        """Return what the library printed since the last request; the middle is left out where it is long."""
        length = max(0, self._output.seek(0, os.SEEK_END) - self._read)  # the candidate may have cut it
        self._output.seek(self._read)
        start = self._output.read(min(length, 2 * _TOLD))
        if length > 2 * _TOLD:
            self._output.seek(-_TOLD, os.SEEK_END)
            start = start[:_TOLD] + b"\n[...]\n" + self._output.read(_TOLD)
        return start.decode(errors="replace").strip()

    def end(self) -> None:
        """End the process and all that it has started; what it has left in its folder goes, too."""
        self._process.end(_END_S)
        self._connection.close()
        if self._room:
            self._room.close()

    def close(self) -> None:
        self.end()
        self._output.close()
