"""Operations that compute nothing: each returns arrays of the shapes that the header declares.

The model and the training step run on them as on any library, so what they hold is told by themselves.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from bindings import Parameter, Signature, read_header, shape_of

from .ledger import Ledger


class Shaped:
    """An array without numbers: shape and type, and views that hold the array they are of.

    One that is none itself stands in the ledger, and so does what NumPy makes of it.
    """

    def __init__(
        self, shape: Sequence[int], dtype: DTypeLike, ledger: Ledger | None = None, base: Shaped | None = None
    ) -> None:
        self.shape, self.dtype, self.ledger, self.base = tuple(shape), np.dtype(dtype), ledger, base
        self.size = prod(self.shape)
        self.nbytes = self.size * self.dtype.itemsize
        if ledger and base is None:
            ledger.hold(self)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __int__(self) -> int:
        """A number that is waited for, as of values that are not finite: there is none of them."""
        return 0

    def of(self, *shape: int) -> Shaped:
        """Another array of the same type."""
        return Shaped(shape, self.dtype, self.ledger)

    def copy(self) -> Shaped:
        return self.of(*self.shape)

    def reshape(self, *shape: Any) -> Shaped:
        """A view; one length may be -1."""
        asked = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], Sequence) else shape
        known = prod(length for length in asked if length != -1)
        lengths = [self.size // known if length == -1 else length for length in asked]
        if prod(lengths) != self.size:
            raise ValueError(f"reshape: shape: expected {self.size} elements, as in {self.shape}, got {asked}")
        return Shaped(lengths, self.dtype, self.ledger, self)

    def __getitem__(self, index: Any) -> Shaped:
        """A view of one entry of the first axis, or of several; an array of those that an array of indices tells."""
        if isinstance(index, np.ndarray):
            return self.of(len(index), *self.shape[1:])
        rows = () if isinstance(index, int) else (len(range(*index.indices(len(self)))),)
        return Shaped((*rows, *self.shape[1:]), self.dtype, self.ledger, self)

    def __setitem__(self, index: Any, value: Any) -> None:
        """There are no numbers to be written."""

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """What arrays a function of NumPy makes; there are no numbers to compute with."""
        if function not in _MAKING:
            raise TypeError(f"numpy.{function.__name__}: no function of an array without numbers")
        return _MAKING[function](*args, **kwargs)


def _split(array: Shaped, parts: Any, axis: int = 0) -> list[Shaped]:
    """Views: as many as that, or between those places."""
    if isinstance(parts, int):
        parts = [len(array) * part // parts for part in range(1, parts)]
    ends = [0, *(int(end) for end in parts), len(array)]
    return [array[start:end] for start, end in pairwise(ends)]


def _concatenated(arrays: Sequence[Shaped], axis: int = 0) -> Shaped:
    return arrays[0].of(sum(map(len, arrays)), *arrays[0].shape[1:])


_MAKING: dict[Any, Callable[..., Any]] = {
    np.zeros_like: Shaped.copy,
    np.empty_like: Shaped.copy,
    np.split: _split,
    np.concatenate: _concatenated,
}


class Shapes:
    """The header's operations; arrays that are updated are returned themselves, as by a library.

    Their results stand in the ledger.  Every expert gets as many tokens as any other.
    """

    def __init__(self, ledger: Ledger | None = None) -> None:
        self._operations, self._ledger = read_header().operations, ledger

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_") or name not in self._operations:
            raise AttributeError(f"the header declares no operation {name}")
        signature = Signature(self._operations[name])

        def called(*args: Any, **kwargs: Any) -> Any:
            values = signature.named(args, kwargs)
            shape = functools.partial(shape_of, sizes=signature.sizes(values))
            scratch = [self._result(parameter, None, shape) for parameter in signature.workspaces]
            results = [self._result(parameter, values.get(parameter.name), shape) for parameter in signature.returned]
            del scratch  # which is there as long as the call
            return results[0] if len(results) == 1 else tuple(results)

        self.__dict__[name] = called
        return called

    def offers(self, operation: str) -> bool:
        """Whether the header declares it: these are the shapes of a library that exports everything."""
        return operation in self._operations

    def expert_sort(self, indices: Any, n_experts: int) -> tuple[Any, Shaped]:
        """Offsets with numbers, which tell what goes to other ranks."""
        offsets = (np.arange(n_experts + 1) * indices.size // n_experts).astype(np.int32)
        if self._ledger:
            self._ledger.hold(offsets)
        return offsets, Shaped(indices.shape, np.int32, self._ledger)

    def _result(self, parameter: Parameter, given: Any, shape: Callable[[Parameter], tuple[int, ...]]) -> Any:
        return Shaped(shape(parameter), parameter.type.dtype, self._ledger) if given is None else given
