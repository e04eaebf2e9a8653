"""What is said of a rank that does not go on: it is stopped, which ends the run, or has been at one thing for long."""

from __future__ import annotations

import os
import platform
import signal
import time
from collections.abc import Callable, Mapping

from .agreement import RanksError
from .page import At, Page

TICK = 1.0  # seconds
STOPPED_TICKS = 10  # after which a rank that is stopped is given up
SAY_AFTER = "ASSAYER_SAY_AFTER"  # seconds at one thing; 60 where nothing is said
_LONG = "60"
_NAMED = 4  # ranks that somebody waits for


def say_after(environment: Mapping[str, str]) -> float:
    """Return after how many seconds it is said what a rank is at. Raises RanksError."""
    text = environment.get(SAY_AFTER, _LONG)
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise RanksError(f"{SAY_AFTER}: expected seconds, more than 0, got {text!r}")
    return seconds


class Lookout:
    """Looks at one rank every now and then."""

    def __init__(self, rank: int, process: int, page: Page, long: float, say: Callable[[str], None]) -> None:
        """long: seconds at one thing after which that is said; later at twice as many, and so on."""
        self.gave_up = False
        self._rank, self._process, self._page, self._long, self._say = rank, process, page, long, say
        self._stopped_by, self._ticks = 0, 0
        self._said_of, self._due = page.read(), long

    def note(self, stopped_by: int) -> None:
        """Take note that the rank was stopped by this signal; 0: that it goes on."""
        self._stopped_by, self._ticks = stopped_by, 0

    def tick(self) -> None:
        """Look. Ticks are counted, not seconds: what stops a whole run, as batch systems do, stops this process too."""
        if self._stopped_by:
            self._ticks += 1
            if self._ticks == STOPPED_TICKS:
                self._give_up()
        else:
            self._say_if_long(self._page.read())

    def _give_up(self) -> None:
        name, seconds = signal.Signals(self._stopped_by).name, STOPPED_TICKS * TICK
        self._say(f"{self._named()} was stopped by {name} {seconds:.0f} s ago at {self._page.read()}: the run ends")
        self.gave_up = True
        os.kill(self._process, signal.SIGKILL)

    def _say_if_long(self, at: At) -> None:
        seconds = time.monotonic() - at.since
        if at != self._said_of:
            self._said_of, self._due = at, self._long
        if seconds < self._due:
            return
        self._due = 2 * seconds
        if not at.waiting:
            self._say(f"{self._named()} has been at {at}, for {seconds:.0f} s; the run goes on")
        elif awaited := self._awaited(at):
            self._say(f"{self._named()} has waited at {at}, for {seconds:.0f} s, for {awaited}; the run goes on")

    def _awaited(self, at: At) -> str:
        """Name the ranks that this one waits for; nothing where a lower one, which waits for the same, does that."""
        others = self._page.others()
        if any(rank < self._rank and other.waiting and other.waits == at.waits for rank, other in others.items()):
            return ""
        places = self._page.places()
        late = {rank: other for rank, other in others.items() if other.holds_up(at)}
        named = [f"rank {rank} (process {places[rank].process}: {other})" for rank, other in late.items()]
        more = [f"{len(named) - _NAMED} more"] if len(named) > _NAMED else []
        return ", ".join([*named[:_NAMED], *more]) or "ranks that are not seen from here"

    def _named(self) -> str:
        return f"rank {self._rank} (process {self._process} on {platform.node()})"
