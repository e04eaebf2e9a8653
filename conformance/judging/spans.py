"""Along which indices of each axis an output is wrong: measured in one case, and said of several together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

CHANCE = 1e-3  # what would be found by accident more often than this says nothing
_BLOCKS = tuple(2**n for n in range(1, 13))  # what kernels cut an axis into
_ORDINALS = {2: "nd", 3: "rd"}
_NO_LESS = 4  # from an index below this on is nearly everywhere


@dataclass(frozen=True)
class Span:
    """The indices of one axis at which something is wrong: from first to last, count of them, of so many.

    step: what all their distances are multiples of; 0 where there is one.
    """

    first: int
    last: int
    count: int
    step: int
    size: int

    def __post_init__(self) -> None:
        """Raise ValueError on what no axis has: a report may come from anywhere."""
        if not (0 <= self.first <= self.last < self.size and 0 < self.count <= self.size and self.step >= 0):
            raise ValueError(f"expected indices of an axis, from first to last, got {self}")

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole axis."""
        return self.count == self.size


def spans(bad: NDArray[np.bool_]) -> tuple[Span, ...]:
    """Return the span of what is wrong along every axis; none where nothing is."""
    if not bad.any():
        return ()
    others = (tuple(other for other in range(bad.ndim) if other != axis) for axis in range(bad.ndim))
    return tuple(_span(np.asarray(bad.any(axis=rest))) for rest in others)


def _span(hit: NDArray[Any]) -> Span:
    places = np.flatnonzero(hit)
    step = int(np.gcd.reduce(np.diff(places))) if places.size > 1 else 0
    return Span(int(places[0]), int(places[-1]), places.size, step, hit.size)


def joined(found: Sequence[Span], name: str) -> str:
    """Say of one axis where it is wrong in every one of several cases; nothing where no more than chance is behind it.

    name: what an index of the axis is called, as in "rows from 1024 on".
    """
    many = f"{name}s" if name in ("array", "element", "row", "column") else name
    if all(span.first == span.last == span.size - 1 for span in found) and _is_told(found, 1):
        return f"the last {name}"
    run, comb = _tail(found, many) or _from(found, many) or _up_to(found, many), _comb(found, name)
    return comb if comb and (not run or _are_apart(found)) else run


def _are_apart(found: Sequence[Span]) -> bool:
    """Whether most of what lies between the first and the last index is right, in the cases with several together."""
    several = [span for span in found if span.count > 1]
    return 2 * sum(span.count for span in several) < sum(span.last - span.first + 1 for span in several)


def _tail(found: Sequence[Span], many: str) -> str:
    """What a loop over whole blocks leaves: the smallest such block."""
    for block in _BLOCKS:
        rest = [span.size % block for span in found]
        behind = all(span.first >= span.size - left for span, left in zip(found, rest, strict=True) if left)
        if behind and all(rest) and any(span.size > block for span in found) and _is_told(found, *rest):
            return f"{many} past the last whole {block}"
    return ""


def _from(found: Sequence[Span], many: str) -> str:
    first = min(span.first for span in found)
    last, size = max(span.last for span in found), max(span.size for span in found)
    if first < _NO_LESS or not _is_told(found, *(span.size - first for span in found)):
        return ""
    if any(span.last == span.size - 1 for span in found) or last + 1 == size:
        return f"{many} from {first} on"
    return f"{many} {first} to {last}" if first < last else f"{many.removesuffix('s')} {first}"


def _up_to(found: Sequence[Span], many: str) -> str:
    """What ends before every longer axis does."""
    last = max(span.last for span in found)
    longer = [span for span in found if span.size > last + 1]
    if 2 * len(longer) < len(found) or not _is_told(longer, *([last + 1] * len(longer))):
        return ""
    return f"{many} up to {last}"


def _comb(found: Sequence[Span], name: str) -> str:
    step = math.gcd(*(span.step for span in found))
    if step < 2 or len({span.first % step for span in found}) > 1:
        return ""
    if not _is_told(found, *(max(1, span.size // step) for span in found)):
        return ""
    return f"every {step}{_ORDINALS.get(step, 'th')} {name} from {found[0].first % step} on"


def _is_told(found: Sequence[Span], *possible: int) -> bool:
    """Whether so many indices would hardly all lie, by chance, among the possible ones of each case."""
    each = possible * len(found) if len(possible) == 1 else possible
    pairs = [(span, few) for span, few in zip(found, each, strict=True) if few < span.size]
    return sum(span.count * math.log(few / span.size) for span, few in pairs) < math.log(CHANCE)
