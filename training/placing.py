"""Numbers for a call, where its other arrays lie."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindings import DeviceArray
from reference.arrays import Array


def beside(array: Array, numbers: Any) -> Array:
    """The numbers in float32, of the host or as a DeviceArray as the array is one: no call takes both on a device."""
    found = np.array(numbers, np.float32)
    return array.memory.array(found) if isinstance(array, DeviceArray) else found
