"""What can be told of a call by looking at it: numbers of its sizes and scalars, and of what its arrays hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from conformance import operations

Values: TypeAlias = NDArray[Any]
Kind: TypeAlias = Literal["size", "scalar", "values"]
_SMALLEST_NORMAL = 2.0**-126
_WARP, _VECTOR = 32, 4


class Property(NamedTuple):
    """One property of the calls of an operation: of which argument, and which."""

    argument: str
    what: str = "value"

    @property
    def described(self) -> str:
        """What it is, for a person."""
        return self.argument if self.what == "value" else f"{self.what} of {self.argument}"


def _is_sorted(rows: Values, sign: int) -> bool:
    with np.errstate(invalid="ignore"):
        return rows.shape[1] > 2 and bool(np.all(sign * np.diff(rows, axis=1) >= 0))


def _is_first_largest(rows: Values, place: int) -> bool:
    return rows.shape[1] > 2 and bool(np.all(rows[:, [place]] >= np.max(rows, axis=1, keepdims=True)))


def _magnitude(rows: Values) -> float:
    """The exponent of the largest finite number; 0 where there is none but zeros."""
    finite = np.abs(rows[np.isfinite(rows)])
    largest = float(np.max(finite, initial=0.0))
    return float(np.floor(np.log2(largest))) if largest else 0.0


def _distance(rows: Values) -> float:
    """The least number of columns between two maxima of a row; 0 where no row has two."""
    is_largest = rows == np.max(rows, axis=1, keepdims=True)
    row, column = np.nonzero(is_largest)
    apart = np.diff(column)[np.diff(row) == 0]
    return float(np.min(apart)) if apart.size else 0.0


FLOATS: Mapping[str, Callable[[Values], float]] = MappingProxyType(
    {
        "a NaN": lambda rows: bool(np.isnan(rows).any()),
        "an infinity": lambda rows: bool((rows == np.inf).any()),
        "a negative infinity": lambda rows: bool((rows == -np.inf).any()),
        "a negative zero": lambda rows: bool(((rows == 0) & np.signbit(rows)).any()),
        "a zero": lambda rows: bool(((rows == 0) & ~np.signbit(rows)).any()),
        "a subnormal number": lambda rows: bool(((rows != 0) & (np.abs(rows) < _SMALLEST_NORMAL)).any()),
        "no number above zero": lambda rows: not (rows > 0).any(),
        "whole numbers alone": lambda rows: bool((rows == np.rint(rows)).all()),
        "rows of one number": lambda rows: rows.shape[1] > 1 and bool((rows == rows[:, :1]).all()),
        "rows that rise": lambda rows: _is_sorted(rows, 1),
        "rows that fall": lambda rows: _is_sorted(rows, -1),
        "the maximum in the first column": lambda rows: _is_first_largest(rows, 0),
        "the maximum in the last column": lambda rows: _is_first_largest(rows, -1),
        "exponent": _magnitude,
        "distance between maxima": _distance,
    }
)
WHOLE: Mapping[str, Callable[[Values], float]] = MappingProxyType(
    {
        "a negative number": lambda rows: bool((rows < 0).any()),
        "one number alone": lambda rows: rows.size > 1 and bool((rows == rows[0, 0]).all()),
        "ascending numbers": lambda rows: rows.size > 2 and bool((np.diff(rows.reshape(-1)) >= 0).all()),
        "no number twice": lambda rows: rows.size > 1 and np.unique(rows).size == rows.size,
    }
)
SIZES: Mapping[str, Callable[[float], float]] = MappingProxyType(
    {
        "value": lambda size: size,
        f"remainder by {_VECTOR}": lambda size: size % _VECTOR,
        f"remainder by {_WARP}": lambda size: size % _WARP,
    }
)


def properties_of(operation: str) -> Mapping[Property, Kind]:
    """Return every property of an operation's calls, and of what kind it is."""
    function = operations.OPERATIONS[operation]
    sizes, scalars = operations.size_names(operation), operations.scalars(function)
    found: dict[Property, Kind] = {Property(name, what): "size" for name in sizes for what in SIZES}
    found |= {Property(name): "scalar" for name in scalars if name not in sizes}
    for parameter in operations.read_arrays(function):
        measures = WHOLE if parameter.type.is_integer else FLOATS
        found |= {Property(parameter.name, what): "values" for what in measures}
    return found


def value_of(operation: str, arguments: Mapping[str, Any], wanted: Property) -> float:
    """Return what a property of a call is: a number, or 1 and 0 for what is so and what is not.

    An array that is not given, or is empty, has none: NaN.
    """
    name, what = wanted
    if name in operations.size_names(operation):
        return float(SIZES[what](float(operations.sizes(operation, arguments)[name])))
    given = arguments[name]
    if what == "value":
        return float(given)
    rows = _rows(given)
    if rows is None:
        return float("nan")
    return float((FLOATS if what in FLOATS else WHOLE)[what](rows))


def _rows(given: Any) -> Values | None:
    """An array's rows along its last axis; a list of arrays is one row."""
    if given is None:
        return None
    array = np.concatenate([np.ravel(each) for each in given]) if isinstance(given, list) else np.asarray(given)
    return array.reshape(-1, array.shape[-1]) if array.ndim and array.size else None
