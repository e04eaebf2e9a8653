"""What first-order propagation does not see in Adam's step: its bound, and that moments may be interpolated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bindings.header.records import Function
from conformance import operations

from .noise import FLOAT32, Noisy, given_up, roundings

UPDATE_ROUNDINGS = 16.0  # of the decay, the moments, their corrections, root and quotient, and the difference
DECAY_ROUNDINGS = 3.0  # of the decay times the parameter, its sum with the step, and that times the rate
INTERPOLATION_ROUNDINGS = 2.0  # of the difference and of its product
Expected = dict[str, Any]


def is_adam(function: Function) -> bool:
    """Whether an operation makes Adam's step: it is told the rate, both decays and eps."""
    return {"lr", "beta1", "beta2", "eps"} <= operations.float_scalars(function)


def as_adamw(operation: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments of the same step by AdamW: where decay goes through the moments, it is part of the gradient."""
    if operation != "adam_step":
        return arguments
    param, grad = (np.asarray(arguments[name], np.float64) for name in ("param", "grad"))
    with np.errstate(all="ignore"):
        return {**arguments, "grad": grad + arguments["weight_decay"] * param, "weight_decay": 0.0}


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
            decay, old = _decay(arguments, name), np.abs(_given(arguments, name.replace("copies", "params")))
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
    return float(arguments.get("weight_decay", 0.0) if decays is None else decays[operations.place_in_list(name)])


def interpolate(expected: Expected, arguments: Mapping[str, Any]) -> None:
    """The first moment may be m + (1 - beta1) * (g - m), as PyTorch's is, which is no number where m or g is infinite.

    This rounds the difference, which is larger than the moment where that cancels, and its product.  Both errors are in
    the parameter, too.  (Below beta1 = 0.5 PyTorch takes g - beta1 * (g - m), which rounds less.)
    """
    format = roundings().intermediate or FLOAT32
    for name in [name for name in expected if name.partition("[")[0] in ("m", "ms")]:
        rest = name[1:]  # nothing for an array by itself, s[3] for one of a list
        with np.errstate(all="ignore"):
            gradient = _given(arguments, f"grad{rest}") * float(np.ravel(arguments.get("grad_scale", 1.0))[0])
            old = _given(arguments, name)
            difference = np.abs((1 - arguments["beta1"]) * (gradient - old))
            slope = _slope(arguments, expected[f"v{rest}"].v)
        own = INTERPOLATION_ROUNDINGS * format.variance(difference), INTERPOLATION_ROUNDINGS * format.reach(difference)
        is_open = np.isinf(old) | np.isinf(gradient)
        for result, factor in ((name, 1.0), (f"param{rest}", slope), (f"copies{rest[1:]}", slope)):
            if result in expected:
                expected[result] = _widened(expected[result], factor, *own, is_open)


def _given(arguments: Mapping[str, Any], name: str) -> NDArray[Any]:
    """An array of the arguments by its flat name."""
    array = arguments[name.partition("[")[0]]
    array = array[operations.place_in_list(name)] if "[" in name else array
    return np.asarray(array, np.float64)


def _slope(arguments: Mapping[str, Any], v: NDArray[Any]) -> NDArray[Any]:
    """By what an error of the first moment is multiplied in the parameter."""
    corrections = (1 - arguments[beta] ** arguments["step"] for beta in ("beta1", "beta2"))
    first, second = (max(correction, np.finfo(float).tiny) for correction in corrections)
    slope = arguments["lr"] / first / (np.sqrt(v / second) + arguments["eps"])
    return np.asarray(np.where(np.isfinite(slope), slope, 0.0))


def _widened(value: Noisy, factor: Any, variance: Any, reach: Any, is_open: NDArray[np.bool_]) -> Noisy:
    known = np.isfinite(value.v) & np.isfinite(variance)
    more = np.where(known, factor**2 * variance, 0.0)
    worst = None if value.worst is None else value.worst + np.where(known, factor * reach, 0.0)
    return given_up(value.replaced(variance=value.variance + more, worst=worst), is_open & ~np.isnan(value.v))
