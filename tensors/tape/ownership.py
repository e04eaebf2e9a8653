"""Whether a tensor's memory is nobody else's: then it can be a leaf's gradient without a copy."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensors.layout import dense
from tensors.storage import Storage
from tensors.tensor import Tensor


def is_sole(tensor: Tensor, variables: int) -> bool:
    """Whether a tensor is dense and fills its memory, and nothing refers to that but by way of the tensor.

    variables: how many of the caller's refer to the tensor. True only where all are counted (CPython to 3.13).
    """
    storage, layout = tensor.storage, tensor.layout
    if layout is not dense(layout.shape) or layout.size != len(storage):
        return False
    memory, known = _memory(storage)
    if not memory:
        return False
    known = [variables + 1, 2, *known]  # by the variables here, and by the tensor
    return _ALONE > 0 and _counts([tensor, storage, *memory]) == [_ALONE + count for count in known]


def _memory(storage: Storage) -> tuple[list[Any], list[int]]:
    """What holds a storage's memory, and how many references to each are known of; nothing where it is not its own.

    Each has one from what holds it, and one from the list that is returned.
    """
    if not storage.has_array:  # nobody has asked for it
        return [storage.held], [2]
    array, by_held = storage.array, storage.held is not None
    if type(array) is not np.ndarray:
        return [], []
    if array.base is None:
        return [array], [2 + by_held]
    whole = array.base  # of an operation's result as one axis: that result
    if type(whole) is not np.ndarray or whole.base is not None or whole.size != array.size:
        return [], []
    return [array, whole], [2 + by_held, 2]


def _counts(chain: Sequence[Any]) -> list[int]:
    """How many references there are to each, those that counting makes among them; 0 where they are not counted."""
    counted = getattr(sys, "getrefcount", lambda _: 0)
    return [counted(one) for one in chain]


# From 3.14 on the interpreter leaves out references of local variables where it can: there nothing is told by counting.
_ALONE = 0 if sys.version_info >= (3, 14) else _counts([object()])[0]
