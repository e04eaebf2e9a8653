"""Honest matrix products as tensor cores make them: factors rounded to a short format, sums rounded toward zero.

Published measurements (Fasi et al. 2021, "Numerical behavior of NVIDIA tensor cores") find products exact, a few of
them added at a time, and the sum truncated to float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.limits.noise import Precision

from .replicas import Replica, plain

Floats = NDArray[Any]


def shortened(x: Floats, format: Precision, ties_away: bool = False) -> Floats:
    """The numbers rounded to nearest, ties to even or away from zero; past the format's range infinite.

    Returns float64.
    """
    exact = np.asarray(x, np.float64)
    exponent = np.frexp(np.maximum(np.abs(exact), format.smallest))[1]
    steps = np.ldexp(exact, format.bits + 1 - exponent)
    whole = np.copysign(np.floor(np.abs(steps) + 0.5), steps) if ties_away else np.rint(steps)
    near = np.where(np.isfinite(exact), np.ldexp(whole, exponent - format.bits - 1), exact)
    return np.where(np.abs(near) > format.largest, np.copysign(np.inf, near), near)


def truncated(x: Floats) -> NDArray[np.float32]:
    """Float64 numbers rounded toward zero, to float32."""
    with np.errstate(over="ignore", invalid="ignore"):
        near = x.astype(np.float32)
        over = (np.abs(near.astype(np.float64)) > np.abs(x)) & np.isfinite(x)
        return np.where(over, np.nextafter(near, np.float32(0)), near)


class TensorCores(Replica):
    """A float32 array whose matrix products are made so; other sums are one after the other."""

    format: Precision
    block: int  # terms added to the sum at a time
    truncates: bool
    ties_away: bool

    def multiplied(self, a: Floats, b: Floats) -> NDArray[np.float32]:
        """The product of factors that are shortened first."""
        return self._product(*(shortened(factor, self.format, self.ties_away) for factor in (a, b)))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function is not np.einsum:
            return super().__array_function__(function, types, args, kwargs)
        factors = [plain(factor) for factor in args[1:]]
        if "hg" not in args[0]:  # that one only adds up the heads of a group
            factors = [shortened(factor, self.format, self.ties_away) for factor in factors]
        return self._wrap(np.einsum(args[0], *factors).astype(np.float32))

    def _product(self, a: Floats, b: Floats) -> NDArray[np.float32]:
        """Factors in float64: the products, and the sums of a few, are as good as exact."""
        total = (a[..., :0] @ b[..., :0, :]).astype(np.float32)
        for start in range(0, a.shape[-1], self.block):
            several = total + a[..., start : start + self.block] @ b[..., start : start + self.block, :]
            total = truncated(several) if self.truncates else several.astype(np.float32)
        return total


def tensor_cores(format: Precision) -> dict[str, type[TensorCores]]:
    """Return kinds of them by name: truncating term by term or by eight, or rounding; ties to even or away."""
    manners: dict[str, dict[str, Any]] = {
        "truncating": {"block": 1, "truncates": True, "ties_away": False},
        "truncating by 8, ties away": {"block": 8, "truncates": True, "ties_away": True},
        "rounding by 16": {"block": 16, "truncates": False, "ties_away": False},
    }
    return {
        f"{format.name} {name}": type("_TensorCores", (TensorCores,), {"format": format, **manner})
        for name, manner in manners.items()
    }
