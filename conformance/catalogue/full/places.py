"""Which of a few drawn rows, columns or elements stands where along a full-size axis, and times which power of two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.catalogue.cases.data import Draw

Array = NDArray[Any]
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
        found = np.empty(int(self.member.max()) + 1, np.int64)
        for place in (slice(start, self.member.size), slice(start)):
            found[self.member[place]] = np.arange(self.member.size)[place]
        return found


def shuffled(draw: Draw, length: int, members: int, factors: str = "") -> Places:
    """Members in no order at all, each of them somewhere.

    factors: "" for none, "+" for powers of two, "+-" for such of either sign.
    """
    member = draw.of("member").integers(0, members, (length,))
    member[: min(members, length)] = draw.of("first").permutation(min(members, length))
    if not factors:
        return Places(member)
    factor = _SIZES[draw.of("power").integers(0, _SIZES.size, (length,))]
    if factors == "+-":
        factor[draw.of("sign").integers(0, 2, (length,)) == 1] *= -1
    return Places(member, factor)
