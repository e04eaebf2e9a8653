"""Honest operations in eager mode: every step of the formula stores its result in a short format.

A framework that carries a formula out step by step computes each in float32 and writes the result to an array of 16
bits, which the next step reads.  One that fuses some of the steps stores fewer results; it is honest too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.limits.noise import Precision

from .replicas import Replica
from .tensor_cores import shortened

# The functions of NumPy whose results a step stores; the others move numbers, choose among them, or compare them.
STEPS = frozenset(
    (np.add, np.subtract, np.multiply, np.true_divide, np.square, np.power, np.exp, np.log, np.sqrt, np.sin, np.cos,
     np.tanh, np.matmul)
)  # fmt: skip


class Eager(Replica):
    """A float32 array on which each step's result is rounded to `format`; sums are one after the other, in float32.

    fuses: draws whether a step is fused with the next, so that nothing is stored; None: none is.
    """

    format: Precision
    fuses: np.random.Generator | None = None

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        result = super().__array_ufunc__(ufunc, method, *inputs, **options)
        if ufunc not in STEPS or not isinstance(result, Eager) or self._is_fused():
            return result
        return self._stored(result, method)

    def _is_fused(self) -> bool:
        return self.fuses is not None and bool(self.fuses.integers(2))

    def _stored(self, result: Any, method: str) -> Any:
        """A result as the step stores it: an array, or the sum of one."""
        if not result.ndim and method == "__call__":
            return result
        return self._wrap(_narrowed(result.view(np.ndarray), self.format))


def _narrowed(x: NDArray[Any], format: Precision) -> NDArray[np.float32]:
    with np.errstate(over="ignore", invalid="ignore"):
        return shortened(x, format).astype(np.float32)


def eager(format: Precision, seed: int | None = None) -> type[Eager]:
    """Return the kind that stores every step's result; with a seed about half of them, by chance."""
    fuses = None if seed is None else np.random.default_rng(seed)
    return type("_Eager", (Eager,), {"format": format, "fuses": fuses})
