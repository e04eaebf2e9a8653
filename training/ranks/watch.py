"""A process over each rank, which gives it its share of the cores, and says what it cannot say itself: it was killed,
it is stopped, it does not go on.

mpirun ends the other processes when one dies, but names one of those it has killed itself as often as the first.
"""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from typing import NoReturn

from .diary import DIARY
from .lookout import TICK, Lookout, say_after
from .page import Page

try:  # not on Windows
    import fcntl
    import termios
except ImportError:
    fcntl = None  # type: ignore[assignment]

STOPPED = 10.0  # seconds after which a launcher that reads nothing is left to itself
NEVER_MET = 86  # exit code of a rank that did not get as far as MPI
_WATCHED = "ASSAYER_WATCHED"  # in the rank's environment: the descriptor of its page
_NO_PAGE = "none"
_IS_TOLD_OF_STOPS = hasattr(os, "WUNTRACED")  # not on Windows, where files are not handed on either
_RANKS_HERE = ("MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE")  # of one machine, by MPICH's and Open MPI's launchers
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def watch(rank: int, size: int) -> None:
    """Return in a process of its own, begun like this one, which waits for it and, if it fails, ends the run.

    Raises RanksError for a setting of the watch that is none.
    """
    if (file := os.environ.pop(_WATCHED, None)) is not None:
        _keep_diary(file, size)
        return
    long, page = say_after(os.environ), Page.new(size)
    os.set_inheritable(page.file, True)
    file = str(page.file) if _IS_TOLD_OF_STOPS else _NO_PAGE
    environment = {**os.environ, **threads(os.environ, size, cores()), _WATCHED: file}
    # What the launcher left open for the rank stays open.
    process = subprocess.Popen([sys.executable, *sys.orig_argv[1:]], env=environment, close_fds=False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the rank's own affair
    lookout = Lookout(rank, process.pid, page, long, _say)
    code = _followed(process.pid, lookout) if _IS_TOLD_OF_STOPS else process.wait()
    if code < 0 and not lookout.gave_up:
        _say(f"rank {rank} (process {process.pid}) was killed by {signal.Signals(-code).name}: the run ends")
    _end(code)


def _keep_diary(file: str, size: int) -> None:
    if file != _NO_PAGE:
        os.set_inheritable(int(file), False)
        DIARY.open(Page(int(file), size))


def _followed(process: int, lookout: Lookout) -> int:
    """Wait until the process has ended and return its code, less than 0 for a signal; see meanwhile that it goes on."""
    threading.Thread(target=_look, args=(lookout,), daemon=True).start()
    while True:
        _, status = os.waitpid(process, os.WUNTRACED | os.WCONTINUED)
        if os.WIFSTOPPED(status):
            lookout.note(stopped_by=os.WSTOPSIG(status))
        elif os.WIFCONTINUED(status):
            lookout.note(stopped_by=0)
        else:
            return os.waitstatus_to_exitcode(status)


def _look(lookout: Lookout) -> None:
    while True:
        time.sleep(TICK)
        lookout.tick()


def threads(environment: Mapping[str, str], size: int, cores: int) -> dict[str, str]:
    """Return how many threads libraries begin in each rank, where that is not said: more than cores only get in each
    other's way, and by far."""
    here = next((int(environment[name]) for name in _RANKS_HERE if environment.get(name, "").isdecimal()), size)
    return {name: str(max(1, cores // here)) for name in _THREADS if name not in environment}


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def until_read(pipe: int) -> None:
    """Wait until the launcher has taken what stands in a pipe to it: what it is told meanwhile, to end the run, it does
    at once, and the reason is lost. Not for ever: a launcher may have been stopped."""
    ends = time.monotonic() + STOPPED
    while time.monotonic() < ends and _unread(pipe):
        time.sleep(0.001)


def _unread(pipe: int) -> bool:
    """Return whether a pipe holds something; a file, a terminal and a system without the question never do."""
    if fcntl is None or not stat.S_ISFIFO(os.fstat(pipe).st_mode):
        return False
    return any(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))


def _say(line: str) -> None:
    with contextlib.suppress(OSError):  # the launcher has gone, nobody reads it
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def _end(code: int) -> NoReturn:
    if code < 0:
        until_read(2)
    if code < 0 or code == NEVER_MET:
        os.kill(os.getpid(), signal.SIGKILL)  # what mpirun ends all others after, even those that still begin
    os._exit(code)
