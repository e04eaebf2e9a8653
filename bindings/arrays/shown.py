"""A DeviceArray on host memory as NumPy sees it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .array import DeviceArray


class _Shown:
    """Shows a DeviceArray on host memory to NumPy, and keeps it alive."""

    def __init__(self, array: DeviceArray) -> None:
        self._array = array
        data = (array.address, not array.flags.writeable)
        self.__array_interface__ = {"shape": (array.nbytes,), "typestr": "|u1", "data": data, "version": 3}


def on_host(array: DeviceArray) -> Any:
    """Return a NumPy array of the same memory, which it keeps alive: bytes first, as bfloat16 is no word to NumPy."""
    return np.asarray(_Shown(array)).view(array.dtype).reshape(array.shape)
