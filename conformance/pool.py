"""Shares a job's pieces out to all cores, each piece going to whichever process is free."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

Piece = TypeVar("Piece")
Made = TypeVar("Made")


# Of glibc's malloc.h.  Some versions take no threshold beyond half a heap of a thread, which is 32 MiB.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_MOST_KEPT, _MOST_OF_OLDER = 1 << 30, 1 << 25


class PoolError(RuntimeError):
    """A process that worked on a piece is no more, and what it had made is lost."""


def one_thread_each() -> None:
    """Let BLAS and OpenMP take one thread in this process, if they are not loaded yet, and in those that it starts.

    There are as many processes as cores.  What the caller has set stands.
    """
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def keep_freed_memory() -> None:
    """Let malloc keep what this process frees: a large array that goes back to the system comes back page by page.

    Of glibc alone; elsewhere nothing is done.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):
        mallopt = ctypes.CDLL(None).mallopt
        for option in (_MMAP_THRESHOLD, _TRIM_THRESHOLD):
            mallopt(option, _MOST_KEPT) or mallopt(option, _MOST_OF_OLDER)


def shared(
    work: Callable[[Piece], Made],
    pieces: Sequence[Piece],
    processes: int,
    begin: Callable[..., None] | None = None,
    given: tuple[Any, ...] = (),
) -> Iterator[Made]:
    """Return work(piece) for every piece, in the order in which they are done; the processes start at once.

    begin(*given) is called first in every process.  One process, or one piece, is worked on in this one.  Raises
    PoolError where one of several processes is killed.
    """
    one_thread_each()
    if min(processes, len(pieces)) <= 1:
        return _here(work, pieces, begin, given)
    from concurrent.futures import ProcessPoolExecutor  # here: 10 ms, which a few cases have no use for

    executor = ProcessPoolExecutor(min(processes, len(pieces)), context(), _begin, (begin, given))
    return _yielded(executor, [executor.submit(work, piece) for piece in pieces])


def in_order(work: Callable[[Piece], Made], pieces: Sequence[Piece], processes: int) -> list[Made]:
    """Return work(piece) for every piece, in the pieces' order."""
    done = dict(shared(partial(_numbered, work), list(enumerate(pieces)), processes))
    return [done[place] for place in range(len(pieces))]


def _numbered(work: Callable[[Piece], Made], piece: tuple[int, Piece]) -> tuple[int, Made]:
    return piece[0], work(piece[1])


def context() -> BaseContext:
    """How processes are started: as copies of this one, which has all modules loaded, where no other thread runs in it.

    Another thread might hold a lock that nobody would ever release in the copy.
    """
    threads = Path("/proc/self/task")
    alone = sys.platform == "linux" and threads.is_dir() and len(list(threads.iterdir())) == 1
    return multiprocessing.get_context("fork" if alone else "spawn")


def _begin(begin: Callable[..., None] | None, given: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the first process ends the others
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # by which it does
    keep_freed_memory()
    if begin:
        begin(*given)


def _here(
    work: Callable[[Piece], Made], pieces: Sequence[Piece], begin: Callable[..., None] | None, given: tuple[Any, ...]
) -> Iterator[Made]:
    keep_freed_memory()
    if begin:
        begin(*given)
    yield from map(work, pieces)


def _yielded(executor: ProcessPoolExecutor, futures: list[Future[Made]]) -> Iterator[Made]:
    from concurrent.futures import BrokenExecutor, as_completed

    ended = False
    try:
        for future in as_completed(futures):
            yield future.result()
            futures.remove(future)  # and what it holds
        ended = True
    except BrokenExecutor:
        raise PoolError("a process of the judge itself was ended from outside (out of memory?): no verdict") from None
    finally:
        # The executor's own thread is waited for, where no piece is left: the next job would find it and start afresh
        # what it could have copied.
        executor.shutdown(wait=ended, cancel_futures=True)
