"""Asks an oracle whether an expectation is right, and how well the two agree.

The oracle is exact for this purpose, so what may differ is the float64 rounding of the reference: its worst case, which
the noise numbers carry, at float64's unit instead of float32's (limit.py).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import numpy as np

from conformance import operations
from conformance.limits.noise import Noisy

from . import sixteen
from .confirmation import Confirmation
from .limit import float64_limit
from .numbers import Nested, dot, flat, precise
from .potentials import GRADIENTS

SCALARS, DIFFERENCES = "scalar loops in 40 digits", "central differences in 40 digits"


def confirm(operation: str, arguments: Mapping[str, Any], expected: Mapping[str, Any]) -> Confirmation | None:
    """Compare an expectation (by flat output name) with an oracle's; None where a gradient has no finite value."""
    base = operations.base_of(operation)
    if base != operation:
        wide = sixteen.wide(base, arguments)
        if not sixteen.is_stored(operation, wide, expected, arguments.get("seed", 0)):
            return Confirmation(SCALARS, np.inf, np.inf)
        if base in sixteen.CASTS:
            return Confirmation(SCALARS, 0.0, 0.0)
        function = operations.OPERATIONS[base]
        own = {name: value for name, value in arguments.items() if name in function.by_name}
        return confirm(base, own, {n: v for n, v in wide.items() if n.partition("[")[0] in function.by_name})
    read = {name: numbers(value) for name, value in arguments.items()}
    with precise():
        if operation in GRADIENTS:
            return _slopes(operation, read, expected)
        results = _named(operation, _scalar(operation)(**read))
        pairs = [_compared(expected[name], results[name]) for name in expected]
    return Confirmation(SCALARS, max(d for d, _ in pairs), max(share for _, share in pairs))


def _scalar(operation: str) -> Callable[..., Any]:
    """The oracle of an operation, in the file of its family."""
    family = operations.family(operation)
    function: Callable[..., Any] | None = getattr(importlib.import_module(f"{__package__}.{family}"), operation, None)
    if function is None:
        raise LookupError(f"{operation}: expected an oracle in conformance/catalogue/oracles/{family}.py, got none")
    return function


def numbers(value: Any) -> Nested:
    """Return arrays as nested lists; floating-point numbers, exactly, as decimal ones."""
    if isinstance(value, (list, np.ndarray)):
        return [numbers(v) for v in value]
    return Decimal(float(value)) if isinstance(value, (float, np.floating)) else int(value)


def _named(operation: str, results: Any) -> dict[str, Nested]:
    """Return an oracle's results by flat output name."""
    parameters = operations.written_arrays(operations.OPERATIONS[operation])
    named: dict[str, Nested] = {}
    for parameter, result in zip(parameters, results if len(parameters) > 1 else (results,), strict=True):
        if parameter.each:
            named |= {f"{parameter.name}[{i}]": member for i, member in enumerate(result)}
        else:
            named[parameter.name] = result
    return named


def _compared(expected: Any, result: Nested) -> tuple[float, float]:
    """Return the largest difference by the largest magnitude, and by its limit."""
    if not isinstance(expected, Noisy):
        same = np.array_equal(expected, np.array(flat(result), expected.dtype).reshape(expected.shape))
        return (0.0, 0.0) if same else (np.inf, np.inf)
    due = np.array([float(x) for x in flat(result)]).reshape(expected.shape)
    finite = np.isfinite(due)
    if not np.array_equal(due[~finite], expected.v[~finite], equal_nan=True):
        return np.inf, np.inf
    error, limit = np.abs(expected.v[finite] - due[finite]), float64_limit(expected)[finite]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(error == 0, 0.0, error / limit).max(initial=0.0)
    return float(error.max(initial=0.0) / (np.abs(due[finite]).max(initial=0.0) or 1.0)), float(share)


def _slopes(operation: str, read: Mapping[str, Nested], expected: Mapping[str, Any]) -> Confirmation | None:
    """Compare the gradient along some directions, where the limits of its entries add up."""
    if not all(np.isfinite(e.v).all() for e in expected.values()):
        return None
    gradient = GRADIENTS[operation]
    outputs = {name: numbers(e.v) for name, e in expected.items()}
    entries = [x for name in gradient.by for x in flat(outputs[name])]
    size = sum((abs(x) for x in entries), Decimal(0))
    limit = Decimal(float(sum(float64_limit(e).sum() for e in expected.values())))
    difference = share = Decimal(0)
    for slope in gradient.slopes(read, outputs):
        error = abs(slope.value - dot(entries, slope.signs))
        difference = max(difference, error / (size or 1))
        share = max(share, error / (limit + slope.error(size)))
    return Confirmation(DIFFERENCES, float(difference), float(share))
