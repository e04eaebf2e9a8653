"""Work shared among processes: whatever the order, and whoever is killed."""

from __future__ import annotations

import os
import platform
import resource
import signal
import threading
import time
from multiprocessing.util import Finalize

import numpy as np
import pytest

from conformance.commands import cli, listing
from conformance.exit_codes import HARNESS
from conformance.pool import PoolError, in_order, shared


def square(number: int) -> int:
    return number * number


def die(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


def leave_slowly() -> None:
    """Have this process take its time to end, as one does that has a large library to unload."""
    Finalize(None, time.sleep, (0.5,), exitpriority=0)


def faults_of_an_array(elements: int) -> int:
    """Page faults of a large array made where another of its size has been freed."""
    np.ones(elements)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    np.ones(elements)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc's malloc is told what to keep")
def test_a_process_keeps_the_memory_that_it_has_freed() -> None:
    elements = 1 << 21  # 16 MiB
    pages = elements * 8 // resource.getpagesize()
    assert all(faults < pages / 8 for faults in shared(faults_of_an_array, [elements] * 4, 2))


@pytest.mark.parametrize("processes", [1, 2])
def test_every_piece_is_worked_on(processes: int) -> None:
    assert sorted(shared(square, range(5), processes)) == [0, 1, 4, 9, 16]
    assert in_order(square, range(5), processes) == [0, 1, 4, 9, 16]


def test_a_job_that_is_done_leaves_no_thread_which_the_next_could_not_copy() -> None:
    before = set(threading.enumerate())
    assert sorted(shared(square, range(5), 2, leave_slowly)) == [0, 1, 4, 9, 16]
    assert set(threading.enumerate()) <= before


def test_a_process_that_is_killed_is_the_judge_s_own_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(PoolError, match="ended from outside"):
        list(shared(die, range(4), 2))
    monkeypatch.setattr(listing, "run", lambda options: len(list(shared(die, range(4), 2))))
    assert cli.main(["list"]) == HARNESS
    assert "no verdict" in capsys.readouterr().err
