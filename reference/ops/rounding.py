"""Rounding to a 16-bit format at random, by counted draws: the same bits wherever it is computed.

A number between two of the format becomes the one away from zero with the probability of its distance from the other,
to 16 bits; so what is added up in many small steps keeps its mean (Gupta et al. 2015, "Deep learning with limited
numerical precision").
"""

from __future__ import annotations

from math import prod
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from reference.arrays import Array
from reference.random import words

DRAW_BITS = 16


def draws(seed: int, array: int, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """The draws for the elements of an array in a list: whole numbers below 2^16."""
    own = int(words(seed, array, 1)[0])
    return (words(own, 0, prod(shape)) >> np.uint64(64 - DRAW_BITS)).astype(np.float64).reshape(shape)


def drawn(x: Array, dtype: np.dtype[Any], r: NDArray[np.float64]) -> Array:
    """x rounded away from zero where floor(2^16 * f) + r >= 2^16, f the share of a step that is dropped else."""
    info = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    with np.errstate(invalid="ignore", over="ignore"):
        exponent = np.maximum(np.frexp(x)[1] - 1, info.minexp)
        steps = np.ldexp(np.abs(x.astype(np.float64)), info.nmant - exponent)
        whole = np.floor(steps)
        away = np.floor((steps - whole) * 2.0**DRAW_BITS) + r >= 2.0**DRAW_BITS
        return np.copysign(np.ldexp(whole + away, exponent - info.nmant), x).astype(dtype)
