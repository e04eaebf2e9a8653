"""What of a library's code its calls reached, where it was compiled for coverage (cuda/coverage/coverage.c)."""

from __future__ import annotations

from typing import NamedTuple

from .process import Ended
from .worker import Worker


class Comparison(NamedTuple):
    """A comparison that was made: behind which call in the code, with which constant, and what was compared with it."""

    place: int
    constant: float
    value: float


class Reached(NamedTuple):
    """What a library's calls reached since the last question.

    places       addresses relative to the library's beginning that were reached for the first time in this process
    comparisons  the first comparison at each place
    """

    places: list[int]
    comparisons: list[Comparison]


def reached(worker: Worker) -> Reached | None:
    """Return what was reached since the last question; nothing where the library was not compiled for coverage.

    What a call reached that ended the process is lost.  Raises LibraryError.
    """
    try:
        _, news = worker.process().ask("reached", worker.limit_s)
    except Ended:
        worker.stop()
        return Reached([], [])
    if news is None:
        return None
    places, comparisons = news
    return Reached(places, [Comparison(int(place), constant, value) for place, constant, value in comparisons])
