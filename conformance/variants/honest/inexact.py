"""Honest operations whose functions err by some units in the last place, as fast approximations do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference import special

from .replicas import Replica, plain

FUNCTIONS: Mapping[str, Any] = {
    "exp": np.exp,
    "log": np.log,
    "pow": np.power,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "erf": special.erf,
    "division": np.true_divide,
}
_OF_ONE = ("sin", "cos", "erf")  # whose units are those of a result of size 1
_LAST_ROUNDING = 0.5  # units, of the result that has erred


class Inexact(Replica):
    """A float32 array whose functions err by so many units: all to one side, or by chance, equal results alike.

    They are exact where every library's are: exp(0), a quotient by a power of two.
    """

    units: Mapping[Any, float]
    seed: int | None = None  # of chance; None: away from zero, everywhere

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if ufunc not in self.units or method != "__call__":
            return super().__array_ufunc__(ufunc, method, *inputs, **options)
        return self._inexact(ufunc, *inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if special.erf not in self.units or function not in (special.erf, special.erfc):
            return super().__array_function__(function, types, args, kwargs)
        erf = self._inexact(special.erf, *args)
        return erf if function is special.erf else 1 - erf

    def _inexact(self, function: Any, *inputs: Any) -> Any:
        wide = [np.asarray(plain(i), np.float64) for i in inputs]
        exact = function(*wide)
        sure = ~np.isfinite(exact) | (exact == 0) | _is_sure(function, wide)
        return self._wrap(np.where(sure, exact, self._erred(function, exact)).astype(np.float32))

    def _erred(self, function: Any, exact: NDArray[np.float64]) -> NDArray[np.float64]:
        is_of_one = any(function is FUNCTIONS[name] for name in _OF_ONE)
        near = np.abs(exact).astype(np.float32)
        step = np.spacing(np.where(is_of_one, np.float32(1), near)).astype(np.float64)
        share = 1.0 if self.seed is None else _shares(near, self.seed)
        return exact + np.copysign(max(self.units[function] - _LAST_ROUNDING, 0.0) * share * step, exact)


def _is_sure(function: Any, inputs: Sequence[NDArray[np.float64]]) -> Any:
    """Where a function is exact whatever it errs by elsewhere."""
    if function is np.true_divide:
        return np.abs(np.frexp(inputs[1])[0]) == 0.5
    if function is np.power:
        return (inputs[0] == 1) | (inputs[1] == 0)
    return inputs[0] == 0


def _shares(near: NDArray[np.float32], seed: int) -> NDArray[np.float64]:
    """Numbers between -1 and 1 that depend on the bits alone."""
    mixed = (near.view(np.uint32).astype(np.uint64) + np.uint64(seed % 2**32)) * np.uint64(0x9E3779B97F4A7C15)
    return np.asarray((mixed >> np.uint64(40)).astype(np.float64) * 2.0**-23 - 1)


def inexact(units: Mapping[str, float], seed: int | None = None) -> type[Inexact]:
    """Return the kind whose functions err by these units, by name; with a seed by chance, else to one side."""
    by_function = {FUNCTIONS[name]: count for name, count in units.items()}
    return type("_Inexact", (Inexact,), {"units": by_function, "seed": seed})
