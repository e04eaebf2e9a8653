"""A matrix product that is multiplied by one number, which another order multiplies into a factor first.

alpha * (A @ B) rounds each product, the sums and the result; (alpha * A) @ B what alpha and A make, too.  In the first
order products and sums may be exact, as those of small whole numbers are, and are rounded in the second all the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .number import Noisy, Scalable
from .precision import Floats, roundings


def is_exact(sizes: Floats, grain: float) -> Any:
    """Whether every partial sum of terms of this size together is held by the accumulator, as a multiple of the grain.

    Below 2^24 grains in float32.
    """
    return sizes <= grain / roundings().exact_unit


def scaled_first(result: Noisy, product: Scalable, factor: Noisy, free: Any) -> None:
    """Add to product * factor = result, in place, what the other order rounds more; free: a factor that never does."""
    size = np.abs(factor.v)
    free = free | is_exact(product.sizes * size, product.grain * grain(factor))
    more = np.where(free, 0.0, size**2 * product.variance)
    result.variance = result.variance + more
    if result.worst is not None:
        result.worst = result.worst + np.where(free, 0.0, size * product.reach)
    in_common = np.where(free, 0.0, size**2 * product.in_common)
    result.shared = np.minimum(result.shared + in_common, result.variance)


def grain(x: Noisy) -> float:
    """The largest power of two of which every number is a whole multiple; 0 where there is noise.

    Sums of such numbers are exact in any order while they are small (`is_exact`).
    """
    if x.errs:
        return 0.0
    v = x.v[np.isfinite(x.v) & (x.v != 0)]
    digits, exponent = np.frexp(v)
    whole = np.abs(digits * 2.0**53).astype(np.int64)
    return float(np.min(np.ldexp((whole & -whole).astype(np.float64), exponent - 53), initial=1.0))
