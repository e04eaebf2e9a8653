"""Two reports compared: what came to fail, what came to pass, whose share of its limit moved."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from conformance.judging.results import Result

from .record import Run

MOVED = 10  # shares listed: those that moved most
LISTED = 20  # ids listed of each kind, unless all are asked for


@dataclass(frozen=True)
class Difference:
    """What a second run says that the first did not; results are the second's, where it has them."""

    failing: list[Result] = field(default_factory=list)  # passed, or was not there, and fails now
    otherwise: list[tuple[Result, Result]] = field(default_factory=list)  # fails as before, for another reason
    passing: list[Result] = field(default_factory=list)
    gone: list[Result] = field(default_factory=list)
    new: list[Result] = field(default_factory=list)  # not there before, and passes
    moved: list[tuple[Result, Result]] = field(default_factory=list)  # passes as before; the farthest first

    @property
    def is_worse(self) -> bool:
        """Whether something fails, or is not judged any more, that was fine."""
        return bool(self.failing) or any(result.is_fine for result in self.gone)


def compare(before: Run, after: Run) -> Difference:
    """Compare two runs case by case."""
    found = Difference()
    old = {result.id: result for result in before.results}
    for result in after.results:
        was = old.pop(result.id, None)
        if was is None:
            (found.new if result.is_fine else found.failing).append(result)
        elif result.is_fine != was.is_fine:
            (found.passing if result.is_fine else found.failing).append(result)
        elif not result.is_fine and (result.status, result.reason) != (was.status, was.reason):
            found.otherwise.append((was, result))
        elif result.is_fine and _move(was, result):
            found.moved.append((was, result))
    found.gone.extend(old.values())
    found.moved.sort(key=lambda pair: -_move(*pair))
    return found


def _move(was: Result, now: Result) -> float:
    """How far a share moved, as a factor's logarithm; a share below one part in a million counts as that."""
    least = 2.0**-20
    return abs(math.log(max(now.share, least) / max(was.share, least)))


def lines(before: Run, after: Run, everything: bool = False) -> Iterator[str]:
    """Yield the comparison as text."""
    found = compare(before, after)
    most = math.inf if everything else LISTED
    yield f"before: {before.candidate}, {len(before.results)} cases, seed {before.seed}, {before.date}"
    yield f"after:  {after.candidate}, {len(after.results)} cases, seed {after.seed}, {after.date}"
    if before.seed != after.seed:
        yield "The seeds differ: every case has other data, and shares move by chance."
    yield from _block("newly failing", (_sentence(result) for result in found.failing), most)
    otherwise = (f"{_sentence(now)} (was: {was.reason})" for was, now in found.otherwise)
    yield from _block("failing otherwise", otherwise, most)
    yield from _block("newly passing", (result.id for result in found.passing), most)
    yield from _block("new, passing", (result.id for result in found.new), most)
    yield from _block("not judged any more", (result.id for result in found.gone), most)
    moves = (f"{was.share:8.3f} -> {now.share:.3f}  {now.id}" for was, now in found.moved)
    yield from _block("share of the limit moved", moves, math.inf if everything else MOVED)
    yield ""
    yield _verdict(found)


def _sentence(result: Result) -> str:
    reason = result.headline
    return f"{result.status} {result.id}" + (f": {reason}" if reason else "")


def _block(heading: str, entries: Iterable[str], most: float) -> Iterator[str]:
    listed = list(entries)
    if listed:
        yield f"\n{heading}: {len(listed)}"
        yield from (f"  {entry}" for place, entry in enumerate(listed) if place < most)
        if len(listed) > most:
            yield f"  ... and {len(listed) - int(most)} more (--all lists them)"


def _verdict(found: Difference) -> str:
    lost = sum(result.is_fine for result in found.gone)
    if found.is_worse:
        return f"Worse: {len(found.failing)} newly failing, {lost} that passed not judged any more."
    if found.passing:
        return f"Better: {len(found.passing)} newly passing, none newly failing."
    return "No case changed its status." if not found.new else f"{len(found.new)} new cases, all passing."
