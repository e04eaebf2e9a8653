"""One operation in NumPy: the name and the arguments are those of the header; the result is returned."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]


def rmsnorm(input: Array, weight: Array, eps: float) -> Array:
    """input * r * weight, r = 1 / sqrt(mean(input^2) + eps), row by row.  A call is refused by raising."""
    if input is None or weight is None or not eps >= 0:
        raise ValueError(f"expected two arrays and eps >= 0, got {input}, {weight}, {eps}")
    with np.errstate(over="ignore", invalid="ignore"):
        return input / np.sqrt(np.mean(input * input, -1, keepdims=True) + np.float32(eps)) * weight
