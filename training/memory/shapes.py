"""Operations that compute nothing: each returns arrays of the shapes that the header declares.

The model and the training step run on them as on any library, so what they hold is told by themselves.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from bindings import Parameter, Signature, read_header, shape_of


class Shaped:
    """An array without numbers: shape and type, and views that hold the array they are of."""

    def __init__(self, shape: Sequence[int], dtype: DTypeLike, base: Shaped | None = None) -> None:
        self.shape, self.dtype, self.base = tuple(shape), np.dtype(dtype), base
        self.size = prod(self.shape)
        self.nbytes = self.size * self.dtype.itemsize

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __int__(self) -> int:
        """A number that is waited for, as of values that are not finite: there is none of them."""
        return 0

    def reshape(self, *shape: Any) -> Shaped:
        """A view; one length may be -1."""
        asked = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], Sequence) else shape
        known = prod(length for length in asked if length != -1)
        lengths = [self.size // known if length == -1 else length for length in asked]
        if prod(lengths) != self.size:
            raise ValueError(f"reshape: shape: expected {self.size} elements, as in {self.shape}, got {asked}")
        return Shaped(lengths, self.dtype, self)

    def __getitem__(self, index: int | slice) -> Shaped:
        """A view of one entry of the first axis, or of several."""
        rows = () if isinstance(index, int) else (len(range(*index.indices(len(self)))),)
        return Shaped((*rows, *self.shape[1:]), self.dtype, self)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Shaped:
        """numpy.zeros_like, and nothing else: there are no numbers to compute with."""
        if function is np.zeros_like:
            return Shaped(self.shape, self.dtype)
        raise TypeError(f"numpy.{function.__name__}: no function of an array without numbers")


class Shapes:
    """The header's operations; arrays that are updated are returned themselves, as by a library."""

    def __init__(self) -> None:
        self._operations = read_header().operations

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_") or name not in self._operations:
            raise AttributeError(f"the header declares no operation {name}")
        signature = Signature(self._operations[name])

        def called(*args: Any, **kwargs: Any) -> Any:
            values = dict(zip(signature.names, args, strict=False)) | kwargs
            shape = functools.partial(shape_of, sizes=signature.sizes(values))
            results = [_result(parameter, values.get(parameter.name), shape) for parameter in signature.returned]
            return results[0] if len(results) == 1 else tuple(results)

        self.__dict__[name] = called
        return called


def _result(parameter: Parameter, given: Any, shape: Callable[[Parameter], tuple[int, ...]]) -> Any:
    if given is not None:
        return given
    return Shaped(shape(parameter), parameter.type.dtype)
