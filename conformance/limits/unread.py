"""What may go unread: what it is multiplied by is zero.

Results of a port that reads it and of one that does not differ where it is NaN or infinite.  The header allows both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .expectation import Expected, expect
from .noise import Noisy

Array = NDArray[Any]
_SETTLED = ("v", "variance", "shared", "worst", "lean")  # of a noise number


def follow_factors(
    operation: str, arguments: Mapping[str, Any], expected: Expected, got: Mapping[str, Array]
) -> Expected:
    """C = alpha * A . B + beta * C where alpha is 0: what A and B make NaN, and `got` does not, is due by beta * C."""
    if arguments.get("alpha") != 0 or not {"A", "B"} <= arguments.keys():
        return expected
    read: Noisy = expected["C"]
    given = got["C"].astype(np.float64)
    goes_unread = np.isnan(read.v) & ~np.isnan(given) if given.shape == read.shape else np.zeros(1, bool)
    if not goes_unread.any():
        return expected
    factors = {name: np.zeros_like(arguments[name]) for name in ("A", "B")}
    unread: Noisy = expect(operation, {**arguments, **factors})["C"]
    pairs = {field: (getattr(unread, field), getattr(read, field)) for field in _SETTLED}
    parts = {
        field: None if one is None or other is None else np.where(goes_unread, one, other)
        for field, (one, other) in pairs.items()
    }
    return {**expected, "C": read.replaced(**parts)}
