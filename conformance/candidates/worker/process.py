"""The judge's handle on a worker's process: start, ask, tell how it ended."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from bindings import Facts, LibraryError, NoDevice

from .arena import CAPACITY, Arena, Slot
from .copies import Copy, copy
from .messages import TooLongError, receive
from .replies import LARGEST, LARGEST_VALUE, GarbledError, unpack, unpack_value

if TYPE_CHECKING:
    from .buffers import Buffer

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS", "GOMAXPROCS")
_POLITE = {"OMP_WAIT_POLICY": "passive"}  # threads that spin at a barrier take the cores from the other workers
_START_S = 60.0
_END_S = 10.0  # a sanitiser's report takes a while
GARBLED = "closed or garbled its connection to the judge"
_TOLD = 1000  # bytes at the beginning and at the end of what a library printed


class Ended(Exception):  # noqa: N818
    """The process is no more: `status` "crashed" with its signal in `reason`, or "timed out"."""

    def __init__(self, status: Any, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


class Process:
    """One process with one library or module, which is open when something is asked of it.

    candidate: the library's path, or the words for a module.  prefix: a command that starts it.  copied: as a copy of
    a process that is ready (copies.py), which that has started.
    """

    def __init__(
        self,
        candidate: str,
        arena: Arena,
        threads: int,
        environment: Mapping[str, str],
        prefix: Sequence[str] = (),
        copied: bool = False,
    ) -> None:
        self.candidate = candidate
        self._output = tempfile.TemporaryFile()  # noqa: SIM115
        ours, theirs = socket.socketpair()
        given = dict.fromkeys(_THREADS, str(threads)) | _POLITE | dict(environment)
        variables = os.environ | given | {"PYTHONPATH": os.pathsep.join(sys.path)}
        files = (theirs.fileno(), arena.file, self._output.fileno())
        self._process: subprocess.Popen[bytes] | Copy
        with theirs:
            if copied:
                self._process = copy(variables, prefix, files, CAPACITY, candidate)
            else:
                self._process = _started(prefix, variables, files, candidate)
        self._connection = Connection(ours.detach())
        self._read = 0
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
        with contextlib.suppress(BrokenPipeError):  # what became of it shows below
            self._connection.send((kind, seconds, arguments))
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
            return receive(self._connection.fileno(), seconds, most)
        except TimeoutError:
            raise Ended("timed out", f"no answer in {seconds:g} s") from None
        except TooLongError:
            raise Ended("crashed", GARBLED) from None
        except (EOFError, OSError):
            raise Ended("crashed", self._reason()) from None

    def _reason(self) -> str:
        """Say how the process ended; it is given a moment to."""
        try:
            code = self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            return GARBLED
        return signal.Signals(-code).name if code < 0 else f"exit status {code}"

    def printed(self) -> str:
        """Return what the library printed since the last request; the middle is left out where it is long."""
        length = self._output.seek(0, os.SEEK_END) - self._read
        self._output.seek(self._read)
        start = self._output.read(min(length, 2 * _TOLD))
        if length > 2 * _TOLD:
            self._output.seek(-_TOLD, os.SEEK_END)
            start = start[:_TOLD] + b"\n[...]\n" + self._output.read(_TOLD)
        return start.decode(errors="replace").strip()

    def end(self) -> None:
        """Kill the process and what it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._connection.close()

    def close(self) -> None:
        self.end()
        self._output.close()


def _started(
    prefix: Sequence[str], variables: Mapping[str, str], files: tuple[int, int, int], path: str
) -> subprocess.Popen[bytes]:
    """Start a process by a command; files: its connection, arena and output."""
    connection, arena, output = files
    arguments = [str(connection), str(arena), str(CAPACITY), path]
    return subprocess.Popen(
        [*prefix, sys.executable, "-u", "-m", f"{__package__}.child", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        pass_fds=(connection, arena),
        env=variables,
        start_new_session=True,
    )
