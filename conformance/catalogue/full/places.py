"""Which of a few drawn rows, columns or elements stands where along a full-size axis, and times which power of two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.catalogue.cases.data import Draw

Array = NDArray[Any]
_LOOKED_AT = 1 << 12  # places at a time
_PERIOD = 1048573
_SIZES = np.array([1, 2, 4], np.float32)  # of factors: what a short format holds it holds times these


@dataclass(frozen=True)
class Places:
    """One axis: place i holds member[i] of those that were drawn, times factor[i] where there are factors."""

    member: NDArray[np.int64]
    factor: NDArray[np.float32] | None = None

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each member stands somewhere."""
        return np.bincount(self.member)

    def one_of_each(self, draw: Draw) -> NDArray[np.int64]:
        """Return for each member one place that holds it: the last before a place drawn at random, or else of all."""
        start = self.member.size - int(draw.integers(0, self.member.size, (1,))[0])
        found = np.full(int(self.member.max()) + 1, -1)
        for stop, least in ((start, 0), (self.member.size, start)):
            while stop > least and (found < 0).any():  # of millions of places the last few hold each member
                begin = max(least, stop - max(_LOOKED_AT, 8 * found.size))
                _note_last(found, self.member[begin:stop], begin)
                stop = begin
        return found


def _note_last(found: NDArray[np.int64], member: NDArray[np.int64], begin: int) -> None:
    """Note for each member that is not found yet the last of some places that holds it; begin: the first of them."""
    last = np.full(found.size, -1)
    last[member] = np.arange(begin, begin + member.size)
    found[:] = np.where(found < 0, last, found)


def shuffled(draw: Draw, length: int, members: int, factors: str = "") -> Places:
    """Members in no order at all, each of them somewhere.

    factors: "" for none, "+" for powers of two, "+-" for such of either sign.  Of millions of places those after a
    prime number of them repeat them: no tile, block or part of a kernel's is as long.
    """
    drawn = min(length, _PERIOD)
    member = draw.of("member").integers(0, members, (drawn,))
    member[: min(members, drawn)] = draw.of("first").permutation(min(members, drawn))
    if not factors:
        return Places(np.resize(member, length))
    factor = _SIZES[draw.of("power").integers(0, _SIZES.size, (drawn,))]
    if factors == "+-":
        factor[draw.of("sign").integers(0, 2, (drawn,)) == 1] *= -1
    return Places(np.resize(member, length), np.resize(factor, length))
