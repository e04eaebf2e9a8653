"""What a call must give: the reference on noise numbers, with the places that first-order propagation cannot see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import reference
from bindings.header.records import Function, Parameter
from conformance import operations
from reference.ops.sixteen import copied

from . import adam
from .infinite_means import leave_means
from .infinite_parameters import leave_infinite
from .infinite_scores import leave_either
from .joined_parts import leave_parts
from .logits import leave_formula
from .masks import leave_open
from .noise import FORMATS, Noisy, Precision, exact, flushed, roundings, stored, using, with_short_errors
from .recurrence import follow_errors

# Scores and the log-sum-exp, which is stored, are scaled by log2(e) before one is taken from the other (Dao 2023,
# "FlashAttention-2", in its published kernels): far from zero each rounds by more than their difference does.
_IN_BASE_TWO = frozenset({"attention_backward"})
Expected = dict[str, Any]  # by flat output name: Noisy, or a plain array that must be met exactly


def expect(operation: str, arguments: Mapping[str, Any], carried_out: Callable[..., Any] | None = None) -> Expected:
    """Return what the reference makes of the arguments (as they reach C), each number with its error.

    Errors are counted by the arithmetic that is in use (conformance.limits.noise.using): the header's, if no other is.
    carried_out: another way to carry out the operation, such as a wrong reading of it.
    """
    way = replace(
        roundings(),
        stored=_stored_in(operations.OPERATIONS[operation]),
        in_base_two=operations.base_of(operation) in _IN_BASE_TWO,
    )
    with using(way):
        return _expect(operation, arguments, carried_out)


def _stored_in(function: Function) -> Precision | None:
    """The format of 16 bits that an operation's arrays are stored in; None where all are of float32."""
    return next((FORMATS[each.element] for each in function.parameters if each.type.is_half), None)


def _expect(operation: str, arguments: Mapping[str, Any], carried_out: Callable[..., Any] | None) -> Expected:
    function = operations.OPERATIONS[operation]
    values = [noisy(v) for v in operations.ordered(function, arguments)]
    with np.errstate(all="ignore"):
        results = (carried_out or getattr(reference, operation))(*values)
    expected = operations.flat(operations.by_name(function, results))
    if adam.is_adam(function):
        adam.interpolate(expected, given := adam.as_adamw(operation, arguments))
        adam.bound_update(expected, given)
    if carried_out is None:
        leave_open(operation, arguments, expected)
        leave_parts(operation, arguments, expected)
        leave_either(operation, arguments, expected)
        leave_infinite(operation, arguments, expected)
        leave_means(operation, arguments, expected)
        leave_formula(operation, arguments, expected)
        follow_errors(operation, arguments, expected)
    results = {
        name: _as_declared(value, operations.declared(function, name), name, arguments.get("seed", 0))
        for name, value in expected.items()
    }
    return {name: with_short_errors(value) if isinstance(value, Noisy) else value for name, value in results.items()}


def _as_declared(value: Any, parameter: Parameter, name: str, seed: int) -> Any:
    """A result as it is stored; seed: of the draws that an operation which has one rounds by."""
    if not isinstance(value, Noisy):
        return value
    if not parameter.type.is_half:
        return stored(value)
    drawn = None
    if seed:
        exact_ones = np.where(value.variance == 0, value.v, 0.0).astype(np.float32)
        drawn = copied(exact_ones, parameter.type.dtype, seed, operations.place_in_list(name)).astype(np.float64)
    return stored(value, FORMATS[parameter.element], drawn)


def noisy(value: Any) -> Any:
    """Take floating-point arrays and numbers as exact noise numbers; integers stay as they are."""
    if isinstance(value, list):
        return [noisy(v) for v in value]
    if isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype.kind == "f"):
        return flushed(exact(value))
    return value


def rounded(expected: Expected) -> dict[str, NDArray[Any]]:
    """Return the expectation as a correct float32 implementation would: each value rounded once."""
    with np.errstate(over="ignore"):
        return {
            name: value.v.astype(np.float32) if isinstance(value, Noisy) else np.asarray(value)
            for name, value in expected.items()
        }
