"""A process over each rank, which says of it what it cannot say itself: that it was killed.

mpirun ends the other processes when one dies, but names one of those it has killed itself as often as the first.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings


def watch(rank: int) -> None:
    """Go on in a process of its own, while this one waits for it and, if it fails, ends the run with a message."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads that are not forked; those of BLAS start anew
        process = os.fork()
    if process == 0:
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the rank's own affair
    _, status = os.waitpid(process, 0)
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        name = signal.Signals(-code).name
        sys.stderr.write(f"rank {rank} (process {process}) was killed by {name}: the run ends\n")
        sys.stderr.flush()
    if code:
        os.kill(os.getpid(), signal.SIGKILL)  # what mpirun ends all others after, even those that still begin
    os._exit(0)
