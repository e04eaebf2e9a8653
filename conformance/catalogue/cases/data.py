"""The data sets: what the inputs of a case are filled with, and what each is there to show.

Every array is a function of the case's id, the argument's name and a seed alone, never of the order of a run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference import random

Shape = tuple[int, ...]
Array = NDArray[Any]


@dataclass(frozen=True)
class Draw:
    """A source of data for one argument of one case."""

    seed: int

    def of(self, *names: str | int) -> Draw:
        """Return an independent source, named."""
        return Draw(random.stream(self.seed, *names))

    def normal(self, shape: Shape) -> Array:
        """Normal numbers with all the digits that float32 has: a short number hides a rounding."""
        digits = random.uniform(random.stream(self.seed, "digits"), shape)
        return random.normal(self.seed, shape) + (digits - 0.5) * 2.0**-12

    def uniform(self, shape: Shape) -> Array:
        return random.uniform(self.seed, shape)

    def integers(self, low: int, high: int, shape: Shape) -> Array:
        return random.integers(self.seed, low, high, shape)

    def permutation(self, n: int) -> Array:
        return random.permutation(self.seed, n)


def plain(draw: Draw, shape: Shape) -> Array:
    """Normal numbers of size one."""
    return draw.normal(shape)


def exact(draw: Draw, shape: Shape) -> Array:
    """Small integers: sums are exact, so that every order of summation gives the same bits."""
    return draw.integers(-4, 5, shape).astype(np.float64)


def wide(draw: Draw, shape: Shape) -> Array:
    """Exponents from -20 to 20."""
    return draw.of("digits").normal(shape) * 2.0 ** draw.integers(-20, 21, shape)


def swamp(draw: Draw, shape: Shape) -> Array:
    """One large number in each row among many small ones."""
    values = draw.normal(shape)
    place = draw.of("place").integers(0, shape[-1], shape[:-1])
    large = 2.0**12 * (1 + draw.of("size").uniform(shape))
    return np.where(np.arange(shape[-1]) == place[..., None], large, values)


def cancel(draw: Draw, shape: Shape) -> Array:
    """Large neighbours of opposite sign, which leave little when they are added."""
    values = draw.normal(shape)
    partner = np.concatenate([np.zeros_like(values[..., :1]), values[..., :-1]], axis=-1)
    odd = np.arange(shape[-1]) % 2 == 1
    return np.where(odd, values * 2.0**-8 - 2.0**6 * partner, values * 2.0**6)


def late(draw: Draw, shape: Shape) -> Array:
    """The largest number of each row in its last column, far above the others."""
    return draw.normal(shape) + np.where(np.arange(shape[-1]) == shape[-1] - 1, 16.0, 0.0)


def beyond(draw: Draw, shape: Shape) -> Array:
    """The largest numbers of each row in its last three columns: exp of them overflows unless they set the maximum."""
    return draw.normal(shape) + np.where(np.arange(shape[-1]) >= shape[-1] - 3, 96.0, 0.0)


def below(draw: Draw, shape: Shape) -> Array:
    """Every number far below zero: exp of them vanishes where a maximum begins at 0."""
    return draw.normal(shape) - 256.0


def lowest(draw: Draw, shape: Shape) -> Array:
    """Every number below those that stand for minus infinity where a maximum begins: -1e4, -1e9, -1e30."""
    return -(2.0**104) * (1 + draw.uniform(shape))


def constant(draw: Draw, shape: Shape) -> Array:
    """Every row constant: no variance, ties everywhere."""
    return np.broadcast_to(draw.normal((*shape[:-1], 1)), shape).copy()


def large(draw: Draw, shape: Shape) -> Array:
    """Numbers of size 100 with a common offset: exp overflows where the maximum is not subtracted."""
    return draw.normal(shape) * 32 + 100


def tiny(draw: Draw, shape: Shape) -> Array:
    """Numbers of size 1e-6: squares, and a mean of squares, near the usual eps."""
    return draw.normal(shape) * 2.0**-11


def special(draw: Draw, shape: Shape) -> Array:
    """NaN, infinities and signed zeros among normal numbers."""
    return _sprinkled(draw, shape, np.array([np.nan, np.inf, -np.inf, -0.0, 0.0]))


def special_of_both_signs(draw: Draw, shape: Shape) -> Array:
    """The same, every other NaN with the sign bit."""
    values = special(draw, shape)
    signs = np.where(draw.of("sign").integers(0, 2, shape) == 1, -1.0, 1.0)
    return np.where(np.isnan(values), np.copysign(values, signs), values)


def signed(draw: Draw, shape: Shape) -> Array:
    """Signed zeros, infinities and subnormal numbers among normal ones; no NaN."""
    return _sprinkled(draw, shape, np.array([np.inf, -0.0, 0.0, 2.0**-140, -(2.0**-149), 1.0]))


def lone(draw: Draw, shape: Shape) -> Array:
    """In each row, or eight numbers of a vector, one NaN, infinity or zero: of two, one would hide what the other does.

    Kinds go by turns, so that two rows hold one at least that is no number; the first NaN, and every other after it,
    has the sign bit.
    """
    values = draw.normal(shape)
    width = shape[-1] if len(shape) > 1 else min(8, shape[-1])
    starts = np.arange(0, values.size, width)
    kinds = np.array([np.nan, -0.0, np.inf, 0.0, -np.inf])
    kind = (np.arange(starts.size) + draw.of("first").integers(0, 2, (1,)) * 2) % kinds.size
    place = starts + draw.of("place").integers(0, width, starts.shape)
    signs = np.where(starts // width // kinds.size % 2 == 0, -1.0, 1.0)
    made = np.where(np.isnan(kinds[kind]), np.copysign(kinds[kind], signs), kinds[kind])
    values.reshape(-1)[np.minimum(place, values.size - 1)] = made
    return values


def lone_nan(draw: Draw, shape: Shape) -> Array:
    """In each row, or eight numbers of a vector, one NaN: by turns with the sign bit, in the first, and without."""
    values = draw.normal(shape)
    width = shape[-1] if len(shape) > 1 else min(8, shape[-1])
    starts = np.arange(0, values.size, width)
    place = starts + draw.of("place").integers(0, width, starts.shape)
    signs = np.where(np.arange(starts.size) % 2 == 0, -1.0, 1.0)
    values.reshape(-1)[np.minimum(place, values.size - 1)] = np.copysign(np.nan, signs)
    return values


def early(draw: Draw, shape: Shape) -> Array:
    """The largest number of each row in its first column, far above the others."""
    return draw.normal(shape) + np.where(np.arange(shape[-1]) == 0, 16.0, 0.0)


def negative(draw: Draw, shape: Shape) -> Array:
    """No number above zero: a maximum or a sum that begins with 0 shows."""
    return -np.abs(draw.normal(shape)) - 2.0**-10


def rising(draw: Draw, shape: Shape) -> Array:
    """Every row in ascending order: each number is the maximum so far."""
    return np.sort(draw.normal(shape), axis=-1)


def falling(draw: Draw, shape: Shape) -> Array:
    """Every row in descending order."""
    return rising(draw, shape)[..., ::-1]


def ties(draw: Draw, shape: Shape) -> Array:
    """The maximum of each row twice, so many columns apart as a power of two says, from neighbours to the whole row."""
    columns, rows = shape[-1], shape[:-1]
    distance = 2 ** draw.of("distance").integers(0, max(1, int(columns - 1).bit_length()), rows)
    first = draw.of("first").integers(0, columns, rows)
    second = np.where(first + distance < columns, first + distance, np.maximum(first - distance, 0))
    places = np.arange(columns)
    return np.where((places == first[..., None]) | (places == second[..., None]), 8.0, draw.normal(shape))


def sparse(draw: Draw, shape: Shape) -> Array:
    """Zeros of both signs, among them one number in eight that is none; of several rows every other has only zeros."""
    zeros = np.where(draw.of("sign").integers(0, 2, shape) == 1, -0.0, 0.0)
    rows = np.arange(int(np.prod(shape[:-1]))).reshape((*shape[:-1], 1))
    kept = (draw.of("where").integers(0, 8, shape) == 0) & (rows % 2 == 0)
    return np.where(kept, draw.normal(shape), zeros)


def subnormal(draw: Draw, shape: Shape) -> Array:
    """Numbers of which float32 holds fewer digits than of others; in every other row some of size 2^-100, with all."""
    rows = np.arange(int(np.prod(shape[:-1]))).reshape((*shape[:-1], 1)) if len(shape) > 1 else np.arange(shape[0])
    return draw.normal(shape) * np.where(rows % 2 == 1, 2.0**-100, 2.0**-130)


def huge(draw: Draw, shape: Shape) -> Array:
    """Numbers of size 2^30: a product of four of them is near the largest there is."""
    return draw.normal(shape) * 2.0**30


def designed(draw: Draw, shape: Shape) -> Array:
    """Put together by a covering design: each array holds what the id says, one that is no factor normal numbers."""
    return draw.normal(shape)


def _sprinkled(draw: Draw, shape: Shape, values: Array) -> Array:
    chosen = values[draw.of("which").integers(0, len(values), shape)]
    return np.where(draw.of("where").integers(0, 3, shape) == 0, chosen, draw.normal(shape))


def masked(draw: Draw, shape: Shape) -> Array:
    """Minus infinity in half the columns, as a mask leaves it; the first column is always there."""
    keep = draw.of("mask").integers(0, 2, shape) == 1
    return np.where(keep | (np.arange(shape[-1]) == 0), draw.normal(shape), -np.inf)


DATA: dict[str, Callable[[Draw, Shape], Array]] = {
    "plain": plain,
    "exact": exact,
    "range": wide,
    "swamp": swamp,
    "cancel": cancel,
    "degenerate": constant,
    "late": late,
    "beyond": beyond,
    "below": below,
    "lowest": lowest,
    "special": special,
    "special_of_both_signs": special_of_both_signs,
    "signed": signed,
    "lone": lone,
    "lone_nan": lone_nan,
    "large": large,
    "tiny": tiny,
    "masked": masked,
    "early": early,
    "negative": negative,
    "rising": rising,
    "falling": falling,
    "ties": ties,
    "sparse": sparse,
    "subnormal": subnormal,
    "huge": huge,
    "designed": designed,
    "tails": plain,  # what is special about these two is the sizes, and the memory that is added to
    "accumulate": plain,
}
