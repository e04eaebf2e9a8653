"""The ranks of a run whose arrays lie in a library's memory: sums on the devices where NCCL can, or by the host."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .agreement import RanksError
from .devices import Place
from .interface import Pending, Ranks, Summed
from .nccl import NAMED, NcclLibrary
from .staged import Staged

if TYPE_CHECKING:
    from bindings import Library


class Nccl(Staged):
    """The ranks of a run, each with a device of its own: sums cross from device to device, all else as without.

    What is summed is asked for on the library's stream, between what it computes before and after; the host waits for
    nothing.  The order of additions is NCCL's own, and may be another with other devices, sizes or versions; but each
    part of a sum is computed once and then copied, by ring as by tree, so that all ranks get the same bits
    (github.com/NVIDIA/nccl, issue 855).  Two ranks have no order: they get the bits of any other sum.
    """

    def __init__(self, ranks: Ranks, library: Library, nccl: NcclLibrary) -> None:
        super().__init__(ranks, library)
        self.way = f"between the devices, by NCCL {nccl.version}"
        unique_id, *_ = ranks.gather(nccl.unique_id() if ranks.rank == 0 else b"")
        self._communicator = nccl.communicator(unique_id, ranks.rank, ranks.size)

    def begin_sum(self, arrays: Sequence[Any]) -> Pending:
        """Ask for the sums, in arrays of their own: a part may lie under two names, and would be summed twice."""
        kinds = {array.dtype for array in arrays}
        if len(kinds) != 1:
            named = " and ".join(sorted(kind.name for kind in kinds)) or "none"
            raise ValueError(f"begin_sum: arrays: expected arrays of one type, got {named}")
        memory = self._library.memory
        sums: list[Any] = [memory.empty(array.shape, array.dtype) for array in arrays]
        for array in arrays:
            memory.touch(array.owner)
        self._communicator.sum(zip(arrays, sums, strict=True), kinds.pop(), memory.stream_pointer)
        return Summed(sums)


class _Availability(NamedTuple):
    """What a rank finds: where it computes, NCCL's version, or why it has none."""

    place: Place
    version: str
    reason: str


def between(ranks: Ranks, library: Library) -> Staged:
    """Return the ranks for arrays of this library, `way` saying how sums cross and, if by the host, why."""
    try:
        nccl, reason = _opened(library), ""
    except RanksError as error:
        nccl, reason = None, str(error)
    found = ranks.gather(_Availability(Place.here(), nccl.version if nccl else "", reason))
    against = _against(found)
    if nccl is None or against:
        return Staged(ranks, library, against)
    return Nccl(ranks, library, nccl)


def _opened(library: Library) -> NcclLibrary:
    if not library.facts.on_device:
        raise RanksError("the arrays lie in memory of the host")
    if library.facts.emulated and not os.environ.get(NAMED):
        raise RanksError("the device is emulated")
    return NcclLibrary()


def _against(found: Sequence[_Availability]) -> str:
    """Why these ranks cannot use NCCL together; the same on every rank."""
    for rank, one in enumerate(found):
        if one.reason:
            return f"rank {rank}: {one.reason}" if rank else one.reason
        if one.version != found[0].version:
            return f"rank {rank} has NCCL {one.version}, rank 0 {found[0].version}"
        first = next(other for other, theirs in enumerate(found) if theirs.place == one.place)
        if first != rank:
            return f"expected a device for each rank, ranks {first} and {rank} see the same on {one.place.machine}"
    return ""
