"""Finds the argument at which a call crashed, by making it again with the guard zones open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from conformance.candidates.finding import Finding, Misdeed

from . import findings
from .call import Call
from .process import Ended, Process


class Host(Protocol):
    """What starts a process whenever there is none, and stops it."""

    limit_s: float

    def process(self) -> Process: ...
    def stop(self) -> None: ...


def crash(host: Host, call: Call, run: int) -> Iterator[Finding]:
    """Yield what the run did: with open zones a stray write shows in them; a stray read crashes at one closed zone."""
    gaps = call.gaps(run)
    if _ends(host, call, run, [zone for _, _, zone in gaps]):
        yield Finding(Misdeed.STRAY_ADDRESS, "crashed at an address that is not next to an argument")
        return
    memory = call.arena.memory
    stray = [s for b in call.buffers for s in findings.of_margins(memory, b, run, b.gaps(run))]
    yield from stray
    if stray:
        return
    for buffer, side, closed in gaps:
        if _ends(host, call, run, [zone for _, _, zone in gaps if zone != closed]):
            yield Finding(Misdeed.STRAY_READ, f"read {side} of {buffer.name}")
            return


def _ends(host: Host, call: Call, run: int, opened: list[tuple[int, int]]) -> bool:
    """Return whether the process ends in a run with these zones open."""
    try:
        call.make(host.process(), host.limit_s, [run], opened)
    except Ended:
        host.stop()
        return True
    return False
