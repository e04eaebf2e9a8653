"""Who takes part in this run, and that it ends as a whole."""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .agreement import RanksError
from .diary import DIARY
from .interface import ALONE, Ranks
from .watch import NEVER_MET, until_read, watch

if TYPE_CHECKING:
    from .mpi import Mpi

# What the launchers of MPICH (and Intel's) and of Open MPI tell a process they start.
_STARTED = (("PMI_RANK", "PMI_SIZE"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"))

GRACE = 0.5  # seconds


def started_as(environment: Mapping[str, str]) -> tuple[int, int]:
    """Return which process this is, and of how many, by its launcher's word; (0, 1) without one."""
    for names in _STARTED:
        rank, size = (environment.get(name, "") for name in names)
        if rank.isdecimal() and size.isdecimal():
            return int(rank), int(size)
    return 0, 1


@contextmanager
def whole_run() -> Iterator[Ranks]:
    """Give the ranks that mpirun started, or this process alone.

    What leaves the block on one rank, be it an exit, ends all of them: the others would wait for it for ever. To be
    entered before anything else is begun, since under mpirun the command is begun a second time here.
    """
    rank, size = started_as(os.environ)
    if size == 1:
        yield ALONE
        return
    try:
        watch(rank, size)
        ranks = _met(size)
    except RanksError as error:
        _say(rank, error)
        os._exit(NEVER_MET)
    try:
        DIARY.meet(ranks)
        yield ranks
    except BaseException as error:
        _say(ranks.rank, error)
        ranks.end_all(1)
        os._exit(1)


def _met(size: int) -> Mpi:
    try:
        from .mpi import Mpi
    except ImportError as error:
        needed = "pip install mpi4py mpich"
        raise RanksError(f"mpirun started {size} processes, which need mpi4py to meet ({error}): {needed}") from None
    ranks = Mpi()
    if ranks.size != size:
        found = f"mpi4py's library finds {ranks.size}: expected both of one make"
        raise RanksError(f"mpirun started {size} processes, but {found}")
    return ranks


def _say(rank: int, error: BaseException) -> None:
    """In one write, so that the ranks' words do not mix; of what all of them may find wrong the first rank speaks."""
    trace = ""
    if not isinstance(error, (RanksError, SystemExit)):
        trace = "".join(traceback.format_exception(error))
    elif rank > 0:
        time.sleep(GRACE)
    sys.stderr.write(f"{trace}rank {rank} ends the run: {type(error).__name__}: {error}\n")
    sys.stderr.flush()
    until_read(2)
