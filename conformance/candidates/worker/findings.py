"""What a call did to memory that it should not have done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.candidates.finding import Finding, Misdeed
from conformance.candidates.poison import POISON

from .arena import CANARY
from .buffers import TWICE, Buffer
from .contents import spans

Positions = NDArray[np.int64]  # of elements, in the order of memory
_SIDES = ("before the beginning", "past the end")


def of_runs(memory: Any, buffer: Buffer, runs: Sequence[int]) -> Iterator[Finding]:
    """Yield what happened beside the buffer in some runs, and to it if it is an input."""
    for run in runs:
        yield from of_margins(memory, buffer, run, buffer.margins(run))
    for changed in _changed(memory, buffer, runs) if buffer.is_input else ():
        yield Finding(Misdeed.CHANGED_INPUT, f"input {buffer.name} was changed at {_place(buffer, changed)}")


def of_margins(memory: Any, buffer: Buffer, run: int, margins: tuple[tuple[int, int], ...]) -> Iterator[Finding]:
    """Yield what was written in the margins before and behind a buffer."""
    for side, (start, stop) in zip(_SIDES, margins, strict=True):
        held = memory[start:stop]
        if held != CANARY[run] * (stop - start):
            changed = start + np.flatnonzero(np.frombuffer(held, np.uint8) != CANARY[run][0])
            reach = changed[-1] + 1 - buffer.stop(run) if side == _SIDES[1] else buffer.start(run) - changed[0]
            yield Finding(Misdeed.STRAY_WRITE, f"wrote {side} of {buffer.name} ({reach} bytes)")


def of_both(memory: Any, buffer: Buffer, second_has_a_stream: bool = False) -> Iterator[Finding]:
    """Yield how the outputs of the two runs differ; elements that both left poisoned were never written.

    second_has_a_stream: whether the second run is on a stream of its own, the first on the default one.
    """
    unwritten, differing = [], []
    first, second = (spans(buffer.start(run), buffer.stop(run)) for run in TWICE)
    for (start, stop), (other, other_stop) in zip(first, second, strict=True):
        held = memory[start:stop], memory[other:other_stop]
        if held[0] == held[1]:
            continue
        differs = _differs(buffer, *held)
        if not buffer.contents:
            poisoned = (_differs(buffer, h, POISON[run] * len(h)) for h, run in zip(held, TWICE, strict=True))
            never = ~np.logical_or(*poisoned)
            unwritten.append(_position(buffer, start) + np.flatnonzero(never))
            differs &= ~never
        differing.append(_position(buffer, start) + np.flatnonzero(differs))
    if (places := _joined(unwritten)).size:
        yield Finding(Misdeed.UNWRITTEN, f"left {buffer.name} unwritten at {_place(buffer, places)}")
    if (places := _joined(differing)).size:
        there = f"{buffer.name} at {_place(buffer, places)}"
        if second_has_a_stream and _only_the_first_wrote(memory, buffer):
            text = f"on a stream of its own a call has not written {there}, on the default stream it has"
            yield Finding(Misdeed.OTHER_STREAM, text)
        else:
            yield Finding(Misdeed.VARIES, f"the second run differs from the first in {there}")


def _only_the_first_wrote(memory: Any, buffer: Buffer) -> bool:
    """Whether some elements are in the second run what they were before it, and in the first something else."""
    for at_once in zip(*map(buffer.before, TWICE), strict=True):
        wrote = [_differs(buffer, memory[at : at + len(was)], was) for at, was in at_once]
        if (wrote[0] & ~wrote[1]).any():
            return True
    return False


def of_refusal(memory: Any, buffer: Buffer, code: int) -> Iterator[Finding]:
    """Yield whether a call that was refused wrote anything all the same."""
    for changed in _changed(memory, buffer, TWICE):
        text = f"returned {code} and wrote {buffer.name} at {_place(buffer, changed)}"
        yield Finding(Misdeed.WROTE_REFUSED, text)


def _changed(memory: Any, buffer: Buffer, runs: Sequence[int]) -> list[Positions]:
    """Which elements are not what they were before a run, for each run that has such."""
    found: dict[int, list[Positions]] = {run: [] for run in runs}
    for alike in buffer.alike(runs):
        for at, before in buffer.before(alike[0]):
            for run, start in zip(alike, buffer.places(at, alike), strict=True):
                after = memory[start : start + len(before)]
                if after != before:
                    differs = np.flatnonzero(_differs(buffer, after, before))
                    found[run].append(_position(buffer, start, run) + differs)
    return [_joined(places) for places in found.values() if places]


def _differs(buffer: Buffer, one: bytes, other: bytes) -> NDArray[np.bool_]:
    """Which elements of two parts of a buffer differ in a byte."""
    first, second = (np.frombuffer(part, np.uint8).reshape(-1, buffer.dtype.itemsize) for part in (one, other))
    differs: NDArray[np.bool_] = (first != second).any(-1)
    return differs


def _position(buffer: Buffer, start: int, run: int = 1) -> int:
    """The number of the element at a place in the arena."""
    return (start - buffer.start(run)) // buffer.dtype.itemsize


def _joined(found: Sequence[Positions]) -> Positions:
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def _place(buffer: Buffer, positions: Positions) -> str:
    """Name the first of some elements, and say how many more there are."""
    more = f" and {len(positions) - 1} more" if len(positions) > 1 else ""
    return f"{[int(i) for i in np.unravel_index(positions[0], buffer.shape)]}{more}"
