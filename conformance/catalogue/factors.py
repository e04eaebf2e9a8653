"""What a family's file states of an operation's space of inputs, where the header does not tell it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .cases.spec import Finish, Maker, Sizes

# Either side of what kernels branch on: widths of vectors and warps, blocks of threads, a tile, what 48 KB of shared
# memory hold (12,288 float32), a vocabulary, and the ends of 15 and 16 bits.
SIZES = (
    *(1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513),
    *(1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097, 12289, 32000, 32769, 65537),
)


@dataclass(frozen=True)
class Design:
    """The factors of one operation's designed cases; they hold for its 16-bit forms too.

    sizes, scalars: levels by factor, the plainest first.  A factor that is no argument of the header is turned into
    arguments by `derive`.  arrays: for each array the levels by name, with what fills it; of any other, a
    floating-point one takes the data sets of `levels.VALUES`, an index one values in its range.
    """

    operation: str
    sizes: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    scalars: Mapping[str, Sequence[float]] = field(default_factory=dict)
    arrays: Mapping[str, Mapping[str, str | Maker]] = field(default_factory=dict)
    derive: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict  # a row's sizes and scalars -> the call's
    finish: Finish | None = None
    work: Callable[[Sizes], float] | None = None  # multiplications, where they are more than the elements
