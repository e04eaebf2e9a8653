"""How many planted faults were found: in all, by the kind of their conditions and by what they do."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence

from .trial import End, Trial

BAR = 0.95  # of the faults that a hunt is to find


def share(trials: Sequence[Trial]) -> float:
    """Return the share of the planted faults that was found; 0 where none was planted."""
    planted = [trial for trial in trials if trial.counts]
    return sum(trial.end is End.FOUND for trial in planted) / len(planted) if planted else 0.0


def is_right(trials: Sequence[Trial]) -> bool:
    """Whether enough was found, and nothing that was not planted."""
    return share(trials) >= BAR and not any(trial.other for trial in trials)


def line_of(trial: Trial) -> str:
    """Return what came of one fault, in a line."""
    said = f"{trial.end:<6} {trial.seconds:6.1f} s {trial.calls:6} calls  {trial.operation}: {trial.fault}"
    return f"{said}; shown by {trial.smallest_call}" if trial.smallest_call else said


def lines(trials: Sequence[Trial]) -> Iterator[str]:
    """Yield what a person reads: by kind, by slip, what was not found, the share."""
    planted = [trial for trial in trials if trial.counts]
    yield from _table("where it shows", planted, lambda trial: trial.kind)
    yield from _table("what it does", planted, lambda trial: trial.slip)
    for trial in planted:
        if trial.end is not End.FOUND:
            yield f"{trial.end.upper()} {trial.operation}: {trial.fault}; found by {trial.found_by}"
        if trial.other:
            yield f"NOT PLANTED, and fails: {trial.operation} where {trial.other}"
    found = [trial for trial in planted if trial.end is End.FOUND]
    if not found:
        yield f"0 of {len(planted)} planted faults found"
        return
    seconds = [trial.seconds for trial in found]
    took = f"in {statistics.median(seconds):.0f} s at the median, {max(seconds):.0f} s at most"
    yield f"{len(found)} of {len(planted)} planted faults found ({share(trials):.1%}), {took}"


def _table(name: str, trials: Sequence[Trial], of: Callable[[Trial], str]) -> Iterator[str]:
    """A line for each value of what `of` says of a trial."""
    by_value: dict[str, list[Trial]] = {}
    for trial in trials:
        by_value.setdefault(of(trial), []).append(trial)
    width = max(map(len, [*by_value, name]))
    yield f"{name:<{width}} {'found':>6} {'missed':>7} {'seconds':>8}"
    for value, few in sorted(by_value.items()):
        found = sum(trial.end is End.FOUND for trial in few)
        yield f"{value:<{width}} {found:>6} {len(few) - found:>7} {statistics.mean(t.seconds for t in few):>8.1f}"
    yield ""
