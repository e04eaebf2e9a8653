"""Many arrays in one, so that one call does all of them."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import numpy as np

from bindings import DeviceArray
from bindings.arrays import Memory

_STEP = 64  # numbers between the beginnings of arrays: 256 bytes, as a device's allocations are aligned


class Flat:
    """Arrays of float32 by name, each a view of one `whole`, which is 0 between them."""

    def __init__(self, memory: Memory, shapes: Mapping[str, tuple[int, ...]], whole: DeviceArray | None = None) -> None:
        self.shapes, at, starts = dict(shapes), 0, {}
        for name, shape in shapes.items():
            starts[name] = at
            at += -(-prod(shape) // _STEP) * _STEP
        self.size = max(1, at)
        self.whole = memory.zeros((self.size,), np.float32) if whole is None else whole
        self.arrays = {
            name: self.whole[start : start + prod(shapes[name])].reshape(shapes[name]) for name, start in starts.items()
        }
