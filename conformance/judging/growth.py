"""Whether a process takes more memory with every call, told from what it takes once.

An honest library's memory grows while pools fill and pages are first touched, then stays.  What it loses with each call
adds up in proportion: memory is larger after each of the last windows of calls than after the one before.  Chance does
not do that: were one window in ten to grow by itself, eight in a row would once in 10^8.  No number of bytes is chosen.
What malloc hands out is counted to the byte, where C's library tells: it fills what lies unused between other blocks
first, whose pages have been touched, and a small leak shows in no page until that is full.  What a library takes
elsewhere shows in pages, one in each window, which is 64 bytes a call where a window has 64.  What is taken and not
touched shows in the addresses, which malloc takes 128 kB at a time: 2 kB a call.

Of a library of kernels the addresses alone tell: the emulator's stacks, which take turns, need some 600 calls until all
of their pages have been touched, and what a driver does with its own is not known.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from conformance.candidates.worker.rounds import MOST_GROWTH, Held

LAST = 8  # windows that all have to grow
_KINDS = {"addresses": "address space", "memory": "memory", "from_malloc": "memory from malloc"}


def growth(held: Sequence[Held], window: int, count: int, is_of_kernels: bool = False) -> str:
    """Say that memory grows from call to call, or nothing.

    held: after the first call and each window of calls; count: how many calls there were to be.
    """
    if not held:
        return ""
    if (much := held[-1].memory - held[0].memory) > MOST_GROWTH:
        return f"memory grows from call to call: by {_bytes(much)}; {count} calls were not made"
    kinds = ["addresses"] if is_of_kernels else [*_KINDS]
    by_kind = {_KINDS[kind]: [getattr(each, kind) for each in held[-LAST - 1 :]] for kind in kinds}
    grown = {kind: last[-1] - last[0] for kind, last in by_kind.items() if can_tell(held) and _rises(last)}
    if not grown:
        return ""
    kind = max(grown, key=lambda kind: grown[kind])
    calls = LAST * window
    return f"memory grows from call to call: {_bytes(grown[kind] / calls)} of {kind} each, in the last {calls} calls"


def can_tell(held: Sequence[Held]) -> bool:
    """Whether there were enough windows: the first of them fills pools."""
    return len(held) > LAST + 1


def _rises(numbers: Sequence[int]) -> bool:
    return all(after > before for before, after in itertools.pairwise(numbers))


def _bytes(count: float) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.3g} bytes"
