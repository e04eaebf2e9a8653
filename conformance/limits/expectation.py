"""What a call must give: the reference on noise numbers, with the places that first-order propagation cannot see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import reference
from bindings.header.records import Function, Parameter
from conformance import operations
from reference.ops.sixteen import copied

from .infinite_scores import leave_either
from .masks import leave_open
from .noise import FLOAT32, FORMATS, Noisy, exact, flushed, given_up, roundings, stored, with_short_errors

UPDATE_ROUNDINGS = 16.0  # of the decay, the moments, their corrections, root and quotient, and the difference
DECAY_ROUNDINGS = 3.0  # of the decay times the parameter, its sum with the step, and that times the rate
Expected = dict[str, Any]  # by flat output name: Noisy, or a plain array that must be met exactly


def expect(operation: str, arguments: Mapping[str, Any], carried_out: Callable[..., Any] | None = None) -> Expected:
    """Return what the reference makes of the arguments (as they reach C), each number with its error.

    Errors are counted by the arithmetic that is in use (conformance.limits.noise.using): the header's, if no other is.
    carried_out: another way to carry out the operation, such as a wrong reading of it.
    """
    function = operations.OPERATIONS[operation]
    values = [noisy(v) for v in operations.ordered(function, arguments)]
    with np.errstate(all="ignore"):
        results = (carried_out or getattr(reference, operation))(*values)
    expected = operations.flat(operations.by_name(function, results))
    if is_adam(function):
        bound_update(expected, arguments)
    if carried_out is None:
        leave_open(operation, arguments, expected)
        leave_either(operation, arguments, expected)
    results = {
        name: _as_declared(value, operations.declared(function, name), place_of(name), arguments.get("seed", 0))
        for name, value in expected.items()
    }
    return {name: with_short_errors(value) if isinstance(value, Noisy) else value for name, value in results.items()}


def place_of(name: str) -> int:
    """The place in its list that a flat name says; 0 of an array of its own."""
    return int(name.partition("[")[2].removesuffix("]") or 0)


def _as_declared(value: Any, parameter: Parameter, place: int, seed: int) -> Any:
    """A result as it is stored; seed: of the draws that an operation which has one rounds by."""
    if not isinstance(value, Noisy):
        return value
    if not parameter.type.is_half:
        return stored(value)
    drawn = None
    if seed:
        exact_ones = np.where(value.variance == 0, value.v, 0.0).astype(np.float32)
        drawn = copied(exact_ones, parameter.type.dtype, seed, place).astype(np.float64)
    return stored(value, FORMATS[parameter.element], drawn)


def noisy(value: Any) -> Any:
    """Take floating-point arrays and numbers as exact noise numbers; integers stay as they are."""
    if isinstance(value, list):
        return [noisy(v) for v in value]
    if isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype.kind == "f"):
        return flushed(exact(value))
    return value


def is_adam(function: Function) -> bool:
    """Whether an operation makes Adam's step: it is told the rate, both decays and eps."""
    return {"lr", "beta1", "beta2", "eps"} <= operations.float_scalars(function)


def bound_update(expected: Expected, arguments: Mapping[str, Any]) -> None:
    """AdamW moves a parameter by at most lr * (1 - beta1) / sqrt(1 - beta2) beyond decay, whatever the noise.

    (Kingma and Ba 2015, section 2.1.)  At a gradient near zero the sign of the step is noise, and the derivative of
    g / sqrt(g^2) says nothing; the distance between the two extremes bounds the error there, beside the roundings of
    what is moved (and of the step itself, where moments that no gradients left make it larger than that).

    The header adds the decay to the step before it subtracts both; the reference takes it off the parameter by one
    factor.  The first rounds the decay three times, alone and with the step, which counts where it is large.

    What is stored between the steps in a short format is rounded to that.

    What the header leaves open stays unknown: an m_hat past the largest number, and an infinite parameter, of which a
    product with a decay of 0 is no number.
    """
    beta1, beta2 = arguments["beta1"], arguments["beta2"]
    format = roundings().intermediate or FLOAT32
    most = 2 * arguments["lr"] * max(1.0, (1 - beta1) / np.sqrt(max(1 - beta2, np.finfo(float).tiny)))
    for name, value in expected.items():
        if name.startswith(("param", "copies")):
            decay, old = _decay(arguments, name), np.abs(_moved(arguments, name))
            decayed = old * arguments["lr"] * decay if decay else np.zeros(())
            own, reach = DECAY_ROUNDINGS * format.variance(decayed), DECAY_ROUNDINGS * format.reach(decayed)
            cap = most**2 + UPDATE_ROUNDINGS * format.variance(np.abs(value.v) + old)  # the step is no larger
            variance = np.where(np.isfinite(value.v), np.minimum(value.variance, cap) + own, 0.0)
            worst = None if value.worst is None else value.worst + np.where(np.isfinite(value.v), reach, 0.0)
            is_open = np.isinf(value.variance) | np.isinf(value.v)
            bounded = Noisy(value.v, variance, np.minimum(value.shared, variance), worst, lean=value.lean)
            expected[name] = given_up(bounded, is_open)


def _decay(arguments: Mapping[str, Any], name: str) -> float:
    """The decay of a parameter by its flat name; 0 where the arguments do not tell."""
    decays = arguments.get("weight_decays")
    return float(arguments.get("weight_decay", 0.0) if decays is None else decays[place_of(name)])


def _moved(arguments: Mapping[str, Any], name: str) -> NDArray[Any]:
    """The parameter before the update, by its flat name."""
    array = arguments["params"][place_of(name)] if "params" in arguments else arguments["param"]
    return np.asarray(array, np.float64)


def rounded(expected: Expected) -> dict[str, NDArray[Any]]:
    """Return the expectation as a correct float32 implementation would: each value rounded once."""
    with np.errstate(over="ignore"):
        return {
            name: value.v.astype(np.float32) if isinstance(value, Noisy) else np.asarray(value)
            for name, value in expected.items()
        }
