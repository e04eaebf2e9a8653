"""What tensors lie in, and the memory of NumPy arrays as such."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindings.calls.prepared import array_of, held
from reference.namespace import Ops

from .errors import TensorError, check
from .layout import Layout, dense
from .plans import plans_of


class Storage:
    """An array of one axis, and the namespace of operations, `ops`, that computes on it.

    `version` counts the writes through tensors: so that the tape notices that what it saved was overwritten. `plans`:
    the calls that `ops` has prepared for numbers of this type; `held`: the array as they take it and make it.
    """

    __slots__ = ("_array", "held", "ops", "plans", "version")

    def __init__(self, array: Any, ops: Ops) -> None:
        resident = getattr(ops, "resident", False) is True
        check(not resident, "Tensor", "a library whose calls return NumPy arrays", "resident=True")
        self._array, self.ops, self.version = array, ops, 0
        self.held, self.plans = held(array), plans_of(ops, array.dtype)

    @property
    def array(self) -> Any:
        """The array itself; most of those that prepared calls make are never asked for."""
        if self._array is None:
            self._array = array_of(self.held)
        return self._array

    @property
    def has_array(self) -> bool:
        """Whether there is one already, which somebody else may refer to."""
        return self._array is not None

    @property
    def dtype(self) -> Any:
        return self.plans.dtype

    def __len__(self) -> int:
        return len(self.held if self._array is None else self._array)

    def write(self, written: Any) -> None:
        """Take what an operation gave as the storage with its output: the reference gives a copy."""
        if not (isinstance(written, np.ndarray) and isinstance(self.array, np.ndarray)):
            self._array = written  # another kind of number, whose memory nobody else knows
        elif written is not self.array:
            self.array[...] = written
        self.version += 1

    def may_share(self, other: Storage) -> bool:
        """Whether some memory may belong to both."""
        arrays = (self.array, other.array)
        return other is self or (all(isinstance(a, np.ndarray) for a in arrays) and np.may_share_memory(*arrays))


def of_numpy(array: np.ndarray[Any, Any]) -> tuple[Any, Layout]:
    """Return the memory that an array lies in, as one axis, and its layout there; nothing is copied.

    Raises TensorError where strides are not whole numbers of elements.
    """
    if any(stride % array.itemsize for stride in array.strides):
        raise TensorError(f"Tensor: expected strides of whole elements, got {array.strides} bytes: copy it first")
    strides = tuple(stride // array.itemsize for stride in array.strides)
    if not array.size:
        return array.reshape(-1), dense(array.shape)
    reaches = [(length - 1) * stride for length, stride in zip(array.shape, strides, strict=True)]
    below = -sum(reach for reach in reaches if reach < 0)
    above = sum(reach for reach in reaches if reach > 0)
    ascending: Any = (*(slice(None, None, -1 if stride < 0 else 1) for stride in strides), ...)
    memory = np.lib.stride_tricks.as_strided(array[ascending], (below + above + 1,), (array.itemsize,))
    return memory, Layout(array.shape, strides, below)
