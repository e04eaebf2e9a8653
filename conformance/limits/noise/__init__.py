"""Numbers that carry the rounding error an honest implementation makes: the source of every tolerance.

A `Noisy` array holds, beside each float64 value, the variance of the error and, optionally, a bound on it, of any
implementation that computes the same formula in the declared precision.  The reference runs on it unchanged.
"""

from . import functions as _functions  # noqa: F401  (fills the tables by which NumPy reaches noise numbers)
from .cutting import ACCUMULATORS, Cutting, cutting
from .number import Noisy, exact, flushed, given_up
from .precision import ARRANGEMENTS, FLOAT32, FORMATS, SECOND_ORDER, Arithmetic, Precision, roundings, using
from .shorter import nearest, stored, with_short_errors

__all__ = [
    "ACCUMULATORS",
    "ARRANGEMENTS",
    "FLOAT32",
    "FORMATS",
    "SECOND_ORDER",
    "Arithmetic",
    "Cutting",
    "Noisy",
    "Precision",
    "cutting",
    "exact",
    "flushed",
    "given_up",
    "nearest",
    "roundings",
    "stored",
    "using",
    "with_short_errors",
]
