"""Ways to store a float32 number in 16 bits, right and wrong; all of them give float32 back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reference.arrays import Array

from .reading import rounded_to

Rounding = Callable[[Array], Array]
_BITS = {"bf16": 7, "fp16": 10}  # of fraction
_LARGEST = {"bf16": 2.0**128 - 2.0**120, "fp16": 65504.0}
_LEAST = {"bf16": 2.0**-126, "fp16": 2.0**-14}  # normal number


def through(dtype: np.dtype[Any]) -> Rounding:
    """Rounded to a format and widened again; numbers that carry noise to as many bits."""
    nearest = rounded_to(int(-np.log2(float(np.spacing(np.ones((), dtype))))))
    return lambda x: x.astype(dtype).astype(x.dtype) if isinstance(x, np.ndarray) else nearest(x)


def _ranged(suffix: str, rounding: Rounding) -> Rounding:
    """What lies beyond the format's largest number stays infinite."""

    def function(x: Array) -> Array:
        within = rounding(x)
        return np.where(np.abs(within) > _LARGEST[suffix], np.copysign(x.dtype.type(np.inf), x), within)

    return function


def cut_off(suffix: str) -> Rounding:
    """Toward zero."""
    return _ranged(suffix, rounded_to(_BITS[suffix], np.trunc))


def away_from_ties(suffix: str) -> Rounding:
    """To nearest, what lies half way away from zero."""
    return _ranged(suffix, rounded_to(_BITS[suffix], lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x)))


def _saturated(suffix: str) -> Rounding:
    return lambda x: np.where(np.isinf(x), x, np.clip(x, -_LARGEST[suffix], _LARGEST[suffix]))


def _flushed(suffix: str) -> Rounding:
    return lambda x: np.where(np.abs(x) < _LEAST[suffix], np.copysign(x.dtype.type(0), x), x)


def _bits_of(x: Array) -> Array:
    if not isinstance(x, np.ndarray):
        raise TypeError("numbers that carry noise have no bits")
    return x.astype(np.float32).view(np.uint32)


def _rounded_as_a_number(x: Array) -> Array:
    """To nearest even by adding to the bits, whatever they are: of some NaN a zero comes out, of others infinity."""
    bits = _bits_of(x)
    return ((bits + np.uint32(0x7FFF) + (bits >> 16 & 1)) & np.uint32(0xFFFF0000)).view(np.float32)


def _upper_bits_of_nan(x: Array) -> Array:
    """A NaN whose upper bits are zero is infinity."""
    bits = _bits_of(x)
    lost = np.isnan(x) & (bits & np.uint32(0x007FE000) == 0)
    return np.where(lost, np.copysign(np.float32(np.inf), x), x)


_NAN = "No case is made of NaN, whose bits are rounded like a number's."
MISROUNDED: dict[str, tuple[tuple[str, str, Rounding], ...]] = {
    suffix: (
        ("overflow saturates", "What is too large becomes the largest number.", _saturated(suffix)),
        ("subnormal results flushed", "The smallest numbers become zero.", _flushed(suffix)),
        ("NaN taken for a number", _NAN, nan),
    )
    for suffix, nan in (("bf16", _rounded_as_a_number), ("fp16", _upper_bits_of_nan))
}
