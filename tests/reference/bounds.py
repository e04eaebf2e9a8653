"""How far two float64 computations of one formula may differ: derived from the rounding error, never picked."""

from __future__ import annotations

from typing import Any

import numpy as np

EPS = float(np.finfo(np.float64).eps)

# Scalar operations on the way of one number through the longest formula (AdamW), functions counted twice.
LONGEST_FORMULA = 32


def _numbers(*values: Any) -> list[Any]:
    """All floating-point arrays among the values, those in lists and tuples too."""
    flat: list[Any] = []
    for value in values:
        if isinstance(value, (list, tuple)):
            flat += _numbers(*value)
        elif np.asarray(value).dtype.kind == "f":
            flat.append(np.asarray(value))
    return flat


def magnitude(*values: Any) -> float:
    """The largest finite absolute value, at least 1."""
    sizes = [np.abs(a[np.isfinite(a)]).max(initial=1.0) for a in _numbers(*values)]
    return float(max(sizes, default=1.0))


def rounding(inputs: Any, outputs: Any) -> float:
    """Bound of the difference between two ways to compute the outputs from the inputs, in float64.

    An output takes at most one rounding for each number it is summed from (no more than the inputs hold) and those of
    the formula; each is at most eps/2 times the largest magnitude met, in either of the two ways.
    """
    roundings = LONGEST_FORMULA + sum(a.size for a in _numbers(inputs))
    return roundings * EPS * magnitude(inputs, outputs)


def assert_agree(got: Any, expected: Any, inputs: Any, message: str = "") -> None:
    """Two float64 computations of one formula on the inputs agree; NaN and infinities stand at the same places."""
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.shape == expected.shape, message
    special = ~np.isfinite(expected)
    np.testing.assert_array_equal(got[special], expected[special], message)
    error = np.abs(got[~special] - expected[~special]).max(initial=0.0)
    limit = rounding(inputs, expected)
    assert error <= limit, f"{message}: differs by {error:.3g}, limit {limit:.3g}"
