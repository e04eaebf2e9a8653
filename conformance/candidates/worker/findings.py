"""What a call did to memory that it should not have done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from conformance.candidates.finding import Finding, Misdeed

from .arena import CANARY
from .buffers import TWICE, Buffer

_SIDES = ("before the beginning", "past the end")


def of_run(memory: Any, buffer: Buffer, run: int) -> Iterator[Finding]:
    """Yield what happened beside the buffer, and to it if it is an input."""
    yield from of_margins(memory, buffer, run, buffer.margins(run))
    if buffer.is_input and (held := buffer.after(memory, run)) != buffer.before(run):
        changed = _elements(buffer, held) != _elements(buffer, buffer.before(run))
        yield Finding(Misdeed.CHANGED_INPUT, f"input {buffer.name} was changed at {_place(changed)}")


def of_margins(memory: Any, buffer: Buffer, run: int, margins: tuple[tuple[int, int], ...]) -> Iterator[Finding]:
    """Yield what was written in the margins before and behind a buffer."""
    for side, (start, stop) in zip(_SIDES, margins, strict=True):
        held = memory[start:stop]
        if held != CANARY[run] * (stop - start):
            changed = start + np.flatnonzero(np.frombuffer(held, np.uint8) != CANARY[run][0])
            reach = changed[-1] + 1 - buffer.stop(run) if side == _SIDES[1] else buffer.start(run) - changed[0]
            yield Finding(Misdeed.STRAY_WRITE, f"wrote {side} of {buffer.name} ({reach} bytes)")


def of_both(memory: Any, buffer: Buffer) -> Iterator[Finding]:
    """Yield how the outputs of the two runs differ; elements that both left poisoned were never written."""
    held = [buffer.after(memory, run) for run in TWICE]
    if held[0] == held[1]:
        return
    first, second = (_elements(buffer, content) for content in held)
    differs = first != second
    if not buffer.contents:
        poisons = (_elements(buffer, buffer.before(run)) for run in TWICE)
        same = [left == poison for left, poison in zip((first, second), poisons, strict=True)]
        unwritten = (same[0] & same[1]).all(-1, keepdims=True)
        differs &= ~unwritten
        if unwritten.any():
            yield Finding(Misdeed.UNWRITTEN, f"left {buffer.name} unwritten at {_place(unwritten)}")
    if differs.any():
        text = f"the second run differs from the first in {buffer.name} at {_place(differs)}"
        yield Finding(Misdeed.VARIES, text)


def of_refusal(memory: Any, buffer: Buffer, code: int) -> Iterator[Finding]:
    """Yield whether a call that was refused wrote anything all the same."""
    for run in TWICE:
        held, before = buffer.after(memory, run), buffer.before(run)
        if held != before:
            place = _place(_elements(buffer, held) != _elements(buffer, before))
            yield Finding(Misdeed.WROTE_REFUSED, f"returned {code} and wrote {buffer.name} at {place}")


def _elements(buffer: Buffer, content: bytes) -> Any:
    """The bytes of each element, along the last axis."""
    return np.frombuffer(content, np.uint8).reshape(*buffer.shape, buffer.dtype.itemsize)


def _place(mask: Any) -> str:
    """Name the first element of which a byte is marked, and say how many there are."""
    elements = np.argwhere(mask.any(-1))
    more = f" and {len(elements) - 1} more" if len(elements) > 1 else ""
    return f"{elements[0].tolist()}{more}"
