"""Calls at once: each thread on a processor of its own, for so much of the processors' time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import pytest

from conformance.candidates.worker.together import Rounds, Together

Entry = Callable[[], int]


class Call:
    """A call that does what it is told, and never differs."""

    differs = False

    def __init__(self, entry: Entry) -> None:
        self.make = self.first = entry


def together(entry: Entry, rounds: Rounds) -> tuple[list[int], Any]:
    return Together([Call(entry), Call(entry)], rounds, exact=True).run()  # type: ignore[list-item]


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="of Linux")
def test_each_thread_has_a_processor_of_its_own() -> None:
    before, seen = os.sched_getaffinity(0), set[frozenset[int]]()

    def entry() -> int:
        seen.add(frozenset(os.sched_getaffinity(0)))
        return 0

    together(entry, Rounds(8, 1.0, 10.0, 4))
    assert os.sched_getaffinity(0) == before, "that of the thread which started them"
    assert {len(each) for each in seen - {frozenset(before)}} == {1} or len(before) == 1
    assert len(seen - {frozenset(before)}) == min(2, len(before)) or len(before) == 1


def test_threads_that_have_no_processor_go_on_by_the_clock() -> None:
    made, wrong = together(_sleeping, Rounds(1000, 0.5, 0.2, 2))
    assert wrong is None
    assert 2 <= min(made) < 1000


def test_as_many_as_the_processors_time_allows() -> None:
    made, _ = together(_computing, Rounds(1000, 0.1, 60.0, 2))
    assert 2 <= min(made) < 20


def test_so_many_at_least() -> None:
    made, _ = together(_sleeping, Rounds(1000, 0.0, 0.0, 3))
    assert min(made) == 3


def _sleeping() -> int:
    time.sleep(0.01)
    return 0


def _computing() -> int:
    until = time.thread_time() + 0.02
    while time.thread_time() < until:
        pass
    return 0
