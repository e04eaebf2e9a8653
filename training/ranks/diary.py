"""What this process is at: it says so as it goes, on its rank's page where it has one."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager

from .interface import Ranks
from .page import At, Page, Place


class Diary:
    """The entries of one process; one that nobody watches has no page and makes none."""

    def __init__(self) -> None:
        self._page: Page | None = None
        self._now = At(0, 0.0, 0, False, "")

    def open(self, page: Page) -> None:
        """Begin."""
        self._page = page
        self.now_at("beginning")

    def meet(self, ranks: Ranks) -> None:
        """Learn where the other ranks of this machine keep theirs."""
        place = Place(os.getpid(), os.getppid(), self._page.file) if self._page else None
        here = platform.node()
        places = {rank: place for rank, (node, place) in enumerate(ranks.gather((here, place))) if node == here}
        if self._page:
            self._page.introduce({rank: place for rank, place in places.items() if place})

    def now_at(self, phase: str, step: int | None = None) -> None:
        """Say that a phase begins, of another step where one is given."""
        self._enter(self._now._replace(phase=phase, step=self._now.step if step is None else step))

    @contextmanager
    def waiting(self, what: str) -> Iterator[None]:
        """Say that this rank waits for the others, and then that it goes on with what it was at."""
        before = self._now._replace(waits=self._now.waits + 1)
        self._enter(before._replace(phase=f"{before.phase} ({what})", waiting=True))
        yield
        self._enter(before)

    def _enter(self, at: At) -> None:
        if self._page:
            self._now = at._replace(since=time.monotonic())
            self._page.write(self._now)


DIARY = Diary()
now_at, waiting = DIARY.now_at, DIARY.waiting
