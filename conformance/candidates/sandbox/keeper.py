"""The process between the judge and a candidate's: it waits for the candidate's end, and ends whatever that started.

It is the first process of a namespace, with which the kernel ends all others, or else the one that inherits children
whose parents have ended.  While the candidate lives, it looks now and then how many processes there are and how much
memory they hold.  Its last word to the judge is a document: how the candidate ended.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import select
import signal
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from .limits import MOST_PROCESSES, MOST_THREADS, MOST_WRITTEN
from .system import control

_OFTEN_S = 0.05
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 1, 4, 36  # <linux/prctl.h>
_FEW = 4096
_PARENT_AT, _THREADS_AT = 1, 17  # of the words behind the name in /proc/PROCESS/stat
_EVERYBODY = -1  # in a namespace: all but its first process
_BLOCK = 512  # bytes of st_blocks, whatever the disk's are
_PAGE = os.sysconf("SC_PAGE_SIZE")
_KILLED_S, _SOON_S = 5.0, 0.001


class End(NamedTuple):
    """How a candidate's process ended: its exit code, negative for a signal; how many others it left; and why."""

    code: int
    left: int
    reason: str

    @property
    def document(self) -> bytes:
        return json.dumps(self).encode()


def read(document: bytes) -> End:
    """Return what a document says.  Raises ValueError."""
    code, left, reason = json.loads(document)
    return End(int(code), int(left), str(reason))


class Keeper:
    """Waits for one child.

    judge: a connection, at whose end the child is ended.  memory: bytes that it may hold, 0 for any number.
    is_first: whether this process is the first of a namespace.  folder: on a disk, which the child writes to.
    """

    def __init__(self, child: int, judge: int, memory: int, is_first: bool, folder: str = "") -> None:
        self.child, self.judge, self.memory, self.is_first, self.folder = child, judge, memory, is_first, folder
        self.reason = ""

    def keep(self) -> End:
        """Wait until the child has ended, and end what it has left."""
        woken, wakes = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC) if hasattr(os, "pipe2") else os.pipe()
        os.set_blocking(wakes, False)
        signal.set_wakeup_fd(wakes)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: None)
        code = self._waited(woken)
        left = _end_all(self.is_first)
        return End(code, left, self.reason)

    def _waited(self, woken: int) -> int:
        """Return the child's exit code, once it has one."""
        waiting = select.poll()
        waiting.register(woken, select.POLLIN)
        waiting.register(self.judge, select.POLLIN | select.POLLHUP)
        while True:
            code = _reaped(self.child)
            if code is not None:
                return code
            ready = {file for file, _ in waiting.poll(1000 * _OFTEN_S)}
            if woken in ready and signal.SIGTERM in os.read(woken, _FEW):
                self._kill("")
            if self.judge in ready:  # it sends nothing: it has closed its end
                self._kill("")
                waiting.unregister(self.judge)
            if not ready and self.memory and (reason := self._excess()):
                self._kill(reason)

    def _kill(self, reason: str) -> None:
        self.reason = self.reason or reason
        if self.is_first:
            _signal(_EVERYBODY)
            return
        _signal(self.child)
        with contextlib.suppress(OSError):  # its session, as far as nobody has left it, at one stroke
            os.killpg(self.child, signal.SIGKILL)

    def _excess(self) -> str:
        """Say what there is too much of."""
        found = list(itertools.islice(descendants(), MOST_PROCESSES + 1))
        if len(found) > MOST_PROCESSES:
            return f"started more than {MOST_PROCESSES} processes"
        if sum(map(_threads, found)) > MOST_THREADS:
            return f"started more than {MOST_THREADS} threads"
        held = max(map(_resident, found), default=0)  # of one: what is shared counts in each
        if held > self.memory:
            return f"took {held / 1e9:.3g} GB of memory, of {self.memory / 1e9:.3g} GB allowed"
        if self.folder and _written(self.folder) > MOST_WRITTEN:
            return f"wrote more than {MOST_WRITTEN / 1e9:.3g} GB of files"
        return ""


def guard_against_orphans() -> None:
    """Inherit children whose parents have ended, be closed to the eyes of others, and end when the parent does."""
    for option, value in (
        (_PR_SET_CHILD_SUBREAPER, 1),
        (_PR_SET_DUMPABLE, 0),
        (_PR_SET_PDEATHSIG, signal.SIGTERM),
    ):
        with contextlib.suppress(OSError):
            control(option, value)


def descendants(of: str = "thread-self") -> Iterator[int]:
    """Yield the processes that this one, and those that they, have started, by their numbers in /proc."""
    due = [of]
    while due:
        for children in _children_files(due.pop()):
            try:
                numbers = children.read_text().split()
            except OSError:
                continue
            yield from map(int, numbers)
            due += numbers


def _children_files(of: str) -> list[Path]:
    """A file for each thread of a process; of this one only the thread that runs has children."""
    if of == "thread-self":
        return [Path("/proc/thread-self/children")]
    try:
        return [thread / "children" for thread in Path("/proc", of, "task").iterdir()]
    except OSError:
        return []


def _resident(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def _written(folder: str) -> int:
    """How many bytes the files below a folder hold; what is removed meanwhile holds none."""
    total, due = 0, [folder]
    while due:
        try:
            with os.scandir(due.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        due.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_blocks * _BLOCK
        except OSError:
            continue
    return total


def _threads(process: int) -> int:
    try:
        return int(_status(process)[_THREADS_AT])
    except (OSError, IndexError, ValueError):
        return 0


def _status(process: int) -> list[str]:
    """What /proc/PROCESS/stat says behind the name, which may hold anything."""
    return Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()


def _reaped(child: int) -> int | None:
    """Take leave of children that have ended; return the exit code of this one, None where it goes on."""
    code = None
    while True:
        try:
            process, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return code
        if not process:
            return code
        if process == child:
            code = os.waitstatus_to_exitcode(status)


def _end_all(is_first: bool) -> int:
    """End all that is left below this process; return how many there were."""
    ended, until = 0, time.monotonic() + _KILLED_S
    while time.monotonic() < until:
        if is_first:
            _signal(_EVERYBODY)
        else:
            found = list(itertools.islice(descendants(), _FEW))
            for number in found:
                _end_one(number, {os.getpid(), *found})
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                ended += 1
        except ChildProcessError:
            break
        time.sleep(_SOON_S)
    return ended


def _end_one(number: int, family: Collection[int]) -> None:
    """End a process, if it still is one of these processes' children: numbers are used again."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        file = os.pidfd_open(number)
        try:
            if int(_status(number)[_PARENT_AT]) in family:
                signal.pidfd_send_signal(file, signal.SIGKILL)
        finally:
            os.close(file)


def _signal(number: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(number, signal.SIGKILL)
