"""Whether a tensor's memory is nobody else's: then it can be a leaf's gradient without a copy."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensors.layout import dense
from tensors.tensor import Tensor


def is_sole(tensor: Tensor, variables: int) -> bool:
    """Whether a tensor is dense and fills its memory, and nothing refers to that but by way of the tensor.

    variables: how many of the caller's refer to the tensor. True only where references are counted (CPython).
    """
    storage, layout = tensor.storage, tensor.layout
    array = storage.array
    if type(array) is not np.ndarray or layout is not dense(layout.shape) or layout.size != len(array):
        return False
    owner = array if array.base is None else array.base  # of an operation's result as one axis: that result
    if type(owner) is not np.ndarray or owner.base is not None or owner.size != array.size:
        return False
    chain = [tensor, storage, array, owner]
    here = [variables + 1, 2, 2, 2]  # by variables of this function, and by the one before in the chain
    here[2] += storage.held is not None
    if owner is array:
        chain.pop()
        here[2] += 1  # the variable `owner`
    return _ALONE > 0 and _counts(chain) == [_ALONE + count for count in here[: len(chain)]]


def _counts(chain: Sequence[Any]) -> list[int]:
    """Of how many references to each there are, those that counting makes among them; 0 where they are not counted."""
    counted = getattr(sys, "getrefcount", lambda _: 0)
    return [counted(one) for one in chain]


_ALONE = _counts([object()])[0]
