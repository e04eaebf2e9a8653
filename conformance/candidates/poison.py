"""What memory that a call has to write holds beforehand: by it is known what was not written, and what was read.

In runs 1 and 3 every bit is set, which is NaN, or -1.  In run 2 it is a number of size one in every floating-point
format (-1.498 in float32): a sum with it tells the other term, which a sum with NaN or with a huge number does not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.operations import widened

POISON = {1: b"\xff", 2: b"\xbf", 3: b"\xff"}


def poison(dtype: np.dtype[Any], run: int) -> NDArray[Any]:
    """Return one poisoned element of a run, as the judge holds it: 16-bit formats as float32."""
    return widened(np.frombuffer(POISON[run] * dtype.itemsize, dtype))
