"""What a function errs by of its own: as the libraries in use state, or as a contract declares.

Where nothing is declared: the libraries in use state errors of up to four units in the last place
for float32 (CUDA powf 4, NumPy log 3.8 and exp 2.5, C libraries below 1); their variance is taken as four roundings.  A
quotient may be computed through the reciprocal, so it counts two.  A function that is declared to err by n units may
err by all of them at every argument, to one side: that is what its results lean by; exp(0) is 1, and a quotient by a
power of two exact, whatever is declared, since 1 - s times infinity hangs on it.  Where a small result may be
flushed to zero (the header says so of exp, log, power and division), the smallest normal number counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .number import Noisy, between_steps, is_constant, settled, together, weighted
from .precision import Floats, current, roundings

# What may be declared to err by units.
FUNCTIONS = ("exp", "log", "pow", "sqrt", "sin", "cos", "tanh", "erf", "division")
FUNCTION_ROUNDINGS = 4.0
ROUNDINGS_IN_UNIT = 2.0  # at most: a unit in the last place is up to two roundings wide
FUNCTION_REACH = 8.0  # roundings; four units in the last place


def by_units(function: str, x: Noisy, sure: Any = False, size: Floats | None = None) -> Noisy:
    """The results of a function with the error that is declared of it, if one is.

    sure: where they are exact whatever is declared.  size: of what the units are of.
    """
    units = roundings().units(function)
    if units is None:
        return x
    reach = np.where(sure, 0.0, ROUNDINGS_IN_UNIT * units * current().reach(x.v if size is None else size))
    return x.replaced(lean=together(x.lean, reach), worst=None if x.worst is None else x.worst + reach)


def evaluated(function: str, x: Noisy, steps: Floats | float = 0.0, times: int = 1, sure: Any = False) -> Noisy:
    """Add a function's own error, relative to |v|; steps: what it rounds on the way, in roundings of the result.

    times: how many functions it is made of.  sure: where its result is exact.
    """
    if roundings().units(function) is None:
        return _erring(x, times * (steps**2 + FUNCTION_ROUNDINGS), times * (steps + FUNCTION_REACH), sure)
    return _erring(by_units(function, x, sure), times * steps**2 + 1, times * steps, sure)


def _erring(x: Noisy, own: Floats | float, reach: Floats | float, sure: Any) -> Noisy:
    """Add an error: `own` and `reach` are in roundings of a result of size 1, relative to |v|."""
    u, size = current().unit, np.abs(x.v)
    made = weighted(size**2, u * u / 3 * np.asarray(own + 0.0))
    variance = np.where(sure, 0.0, x.variance + made)
    worst = None
    if x.worst is not None:
        worst = np.where(sure, 0.0, x.worst + weighted(size, u * np.asarray(reach + 0.0)))
    lean = None if x.lean is None else np.where(sure, 0.0, x.lean)
    shared = x.shared + made if is_constant(x.v) else x.shared  # equal arguments err alike
    return between_steps(settled(x.v, variance, np.where(sure, 0.0, shared), worst, lean))
