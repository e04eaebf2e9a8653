"""In the worker's process: calls at once, on threads of their own, each compared with what it gives by itself."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Sequence
from typing import NamedTuple

from .rounds import Repeatable


class Rounds(NamedTuple):
    """How many calls a thread makes: as many as are wanted, or as the time allows, but so many at least.

    seconds: of processor time, of all threads; at most `longest` of a clock's.
    """

    wanted: int
    seconds: float
    longest: float
    least: int


def _stay(place: int) -> None:
    """Keep this thread on a processor of its own, where there are several.

    Threads that wake each other are put on one processor, where they take turns and never meet.
    """
    with contextlib.suppress(AttributeError, OSError):  # of Linux alone
        processors = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {processors[place % len(processors)]})


Wrong = tuple[int, int, int, bool]  # which call, in which of its rounds, its code, and whether its bits are others


class Together:
    """Calls on threads of their own, each made again and again until all have been made often enough."""

    def __init__(self, calls: Sequence[Repeatable], rounds: Rounds, exact: bool) -> None:
        self.calls, self.rounds, self.exact = calls, rounds, exact
        self._began = 0.0, 0.0
        self._made = [0] * len(calls)
        self._wrong: list[Wrong] = []
        self._raised: list[BaseException] = []
        self._start = threading.Barrier(len(calls), self._begin)

    def _begin(self) -> None:
        self._began = time.process_time(), time.monotonic()

    def run(self) -> tuple[list[int], Wrong | None]:
        """Make each call by itself, then all at once.

        Returns how often each was made, and what is said of the first that failed or gave other bits than by itself;
        round 0 is the one by itself.
        """
        for place, call in enumerate(self.calls):
            if code := call.first():
                return self._made, (place, 0, code, False)
        threads = [threading.Thread(target=self._work, args=(place,)) for place in range(len(self.calls))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self._raised:
            raise self._raised[0]
        return self._made, self._wrong[0] if self._wrong else None

    def _goes_on(self) -> bool:
        fewest = min(self._made)
        is_enough = fewest >= self.rounds.wanted or (fewest >= self.rounds.least and self._is_late())
        return not is_enough and not self._wrong

    def _is_late(self) -> bool:
        """Whether the time is up.

        Two calls meet while both run, or where one is interrupted.  On a machine with other work both are rarer by the
        clock, and not by the time that the threads have had a processor.
        """
        had, clock = self._began
        return time.process_time() - had > self.rounds.seconds or time.monotonic() - clock > self.rounds.longest

    def _work(self, place: int) -> None:
        call = self.calls[place]
        if len(self.calls) > 1:  # alone, it leaves all processors to the threads that the call starts
            _stay(place)
        self._start.wait()
        try:
            while self._goes_on():
                code = call.make()
                if code or (self.exact and call.differs):
                    self._wrong.append((place, self._made[place] + 1, code, code == 0))
                    return
                self._made[place] += 1
        except BaseException as error:
            self._raised.append(error)
            self._wrong.append((place, self._made[place] + 1, 0, False))
