"""Wrong readings of the root-mean-square norm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reference.arrays import Array, accumulate
from reference.ops import norm as ops

from .reading import Given, Reading, fed, giving

_LESS_ONE, _EPS_OUTSIDE = "divided by hidden_dim - 1", "eps outside the root"
_ROW_BLOCKS = 32  # whose rows the C library sums on their own, at most


def _mean(x: Array) -> Array:
    return np.mean(x, axis=-1, keepdims=True)


def _eps_outside(input: Array, weight: Array, eps: float) -> Array:
    return input / (np.sqrt(_mean(input * input)) + eps) * weight


def _at_least_eps(input: Array, weight: Array, eps: float) -> Array:
    mean = _mean(input * input)
    return input / np.sqrt(np.where(mean < eps, mean * 0.0 + eps, mean)) * weight


def _sum(input: Array, weight: Array, eps: float) -> Array:
    return input / np.sqrt(np.sum(input * input, axis=-1, keepdims=True) + eps) * weight


def _sample_mean(x: Array) -> Array:
    """The sum over one less than there are columns, as of a sample's variance."""
    return np.sum(x, axis=-1, keepdims=True) / (x.shape[-1] - x.dtype.type(1))


def _of_a_sample(input: Array, weight: Array, eps: float) -> Array:
    return input / np.sqrt(_sample_mean(input * input) + eps) * weight


FORWARD: tuple[tuple[str, str, Callable[[Array, Array, float], Array]], ...] = (
    (_EPS_OUTSIDE, "eps is added to the root mean square.", _eps_outside),
    (
        "mean subtracted",
        "The rows are centred first, as in layer norm.",
        lambda input, weight, eps: ops.rmsnorm(input - _mean(input), weight, eps),
    ),
    ("sum in place of the mean", "The squares are not divided by the number of columns.", _sum),
    (_LESS_ONE, "The mean of squares is computed as a sample's variance is.", _of_a_sample),
    ("eps ignored", "The root is taken of the mean alone.", lambda input, weight, eps: ops.rmsnorm(input, weight, 0.0)),
    ("eps as the least mean", "The larger of the mean and eps is taken, not their sum.", _at_least_eps),
    ("eps 1e-5", "The constant of another model.", lambda input, weight, eps: ops.rmsnorm(input, weight, 1e-5)),
    (
        "weight left out",
        "Only the normalised input is returned.",
        lambda input, weight, eps: ops.rmsnorm(input, np.ones_like(weight), eps),
    ),
    (
        "one plus weight",
        "The weight is stored as its distance from 1, as in other models.",
        lambda input, weight, eps: ops.rmsnorm(input, 1.0 + weight, eps),
    ),
)

D_INPUT: tuple[tuple[str, str, Callable[[Array, Array, Array], Array]], ...] = (
    # (what, why, d_input of the normalised rows h, the gradient g = d_output * weight and r)
    ("mean term missing", "The root mean square is taken as a constant.", lambda h, g, r: r * g),
    ("mean term not squared", "r^2 in the mean term is written as r.", lambda h, g, r: r * (g - h / r * _mean(g * h))),
    (
        "sum in place of the mean",
        "The mean term is not divided by the number of columns.",
        lambda h, g, r: r * (g - h * np.sum(g * h, axis=-1, keepdims=True)),
    ),
    (
        "centred",
        "The gradient's mean is taken off too, as in layer norm.",
        lambda h, g, r: r * (g - _mean(g) - h * _mean(g * h)),
    ),
)


def _residual(norm: Callable[[Array, Array, float], Array]) -> Callable[..., Any]:
    """rmsnorm_residual by another norm."""

    def function(input: Array, residual: Array, weight: Array, eps: float) -> tuple[Array, Array]:
        return norm(input + residual, weight, eps), input + residual

    return function


def _d_input(formula: Callable[[Array, Array, Array], Array]) -> Callable[..., Any]:
    """rmsnorm_backward with another formula for d_input."""

    def change(result: Any, g: Given) -> Any:
        r = 1.0 / np.sqrt(_mean(g["input"] * g["input"]) + g["eps"])
        return formula(g["input"] * r, g["d_output"] * g["weight"], r), result[1]

    return giving(ops.rmsnorm_backward, change)


def _backward_by(root: Callable[[Array, float], Array], mean: Callable[[Array], Array] = _mean) -> Callable[..., Any]:
    """rmsnorm_backward by another root of the input's mean square, and another mean in its mean term."""

    def function(
        input: Array, weight: Array, d_output: Array, d_weight: Array | None, eps: float, beta: float
    ) -> tuple[Array, Array]:
        r = 1.0 / root(input, eps)
        h, g = input * r, d_output * weight
        return r * (g - h * mean(g * h)), accumulate(np.sum(d_output * h, axis=0), d_weight, beta)

    return function


def _residual_backward(backward: Callable[..., Any]) -> Callable[..., Any]:
    """rmsnorm_residual_backward by another backward of the norm."""

    def change(result: Any, g: Given) -> Any:
        given = (g[name] for name in ("residual_out", "weight", "d_output", "d_weight", "eps", "beta"))
        d_input, d_weight = backward(*given)
        return d_input + g["d_residual_out"], d_weight

    return giving(ops.rmsnorm_residual_backward, change)


def _root_of_a_sample(input: Array, eps: float) -> Array:
    return np.sqrt(_sample_mean(input * input) + eps)


def _root_and_eps(input: Array, eps: float) -> Array:
    return np.sqrt(_mean(input * input)) + eps


_ROOTS = (
    (_EPS_OUTSIDE, "eps is added to the root mean square.", _backward_by(_root_and_eps)),
    (_LESS_ONE, "The mean of squares is computed as a sample's variance is.", _backward_by(_root_of_a_sample)),
    (
        f"{_LESS_ONE} throughout",
        "Both means are computed as a sample's variance is.",
        _backward_by(_root_of_a_sample, _sample_mean),
    ),
)


def _unweighted(result: Any, g: Given) -> Any:
    ones = np.ones_like(g["weight"])
    return ops.rmsnorm_backward(g["input"], ones, g["d_output"], g["d_weight"], g["eps"], g["beta"])[0], result[1]


def _d_weight_of_input(result: Any, g: Given) -> Any:
    return result[0], accumulate(np.sum(g["d_output"] * g["input"], axis=0), g["d_weight"], g["beta"])


def _d_weight_mean(result: Any, g: Given) -> Any:
    fresh = ops.rmsnorm_backward(g["input"], g["weight"], g["d_output"], None, g["eps"], 0.0)[1]
    return result[0], accumulate(fresh / len(g["input"]), g["d_weight"], g["beta"])


def _second_block_lost(g: Given) -> Array:
    """d_output as d_weight sees it where the rows are cut into at most 32 blocks, and the sum of one is left out."""
    rows, d_output = len(g["d_output"]), g["d_output"]
    lost = np.arange(rows) // -(-rows // _ROW_BLOCKS) == 1
    return np.where(lost[:, None], d_output.dtype.type(0), d_output)


def _without_second_block(operation: Callable[..., Any]) -> Callable[..., Any]:
    return giving(operation, lambda r, g: (r[0], operation(**{**g, "d_output": _second_block_lost(g)})[1]))


READINGS = (
    *(
        Reading(
            operation.__name__,
            "second block of rows lost",
            "The loop that joins the blocks' sums for d_weight begins one too late.",
            _without_second_block(operation),
        )
        for operation in (ops.rmsnorm_backward, ops.rmsnorm_residual_backward)
    ),
    *(Reading("rmsnorm", name, why, function) for name, why, function in FORWARD),
    *(Reading("rmsnorm_residual", name, why, _residual(function)) for name, why, function in FORWARD),
    *(Reading("rmsnorm_backward", name, why, _d_input(formula)) for name, why, formula in D_INPUT),
    *(Reading("rmsnorm_backward", name, why, function) for name, why, function in _ROOTS),
    *(Reading("rmsnorm_residual_backward", name, why, _residual_backward(function)) for name, why, function in _ROOTS),
    Reading(
        "rmsnorm_backward",
        "weight missing in d_input",
        "g is taken as d_output.",
        giving(ops.rmsnorm_backward, _unweighted),
    ),
    Reading(
        "rmsnorm_backward",
        "eps ignored",
        "The root is taken of the mean alone.",
        fed(ops.rmsnorm_backward, eps=lambda g: 0.0),
    ),
    Reading(
        "rmsnorm_backward",
        "d_weight assigned",
        "beta is ignored: the gradient is not accumulated.",
        fed(ops.rmsnorm_backward, beta=lambda g: 0.0),
    ),
    Reading(
        "rmsnorm_backward",
        "d_weight of the input",
        "The input is not normalised in the weight's gradient.",
        giving(ops.rmsnorm_backward, _d_weight_of_input),
    ),
    Reading(
        "rmsnorm_backward",
        "d_weight averaged",
        "The rows' gradients are averaged instead of added.",
        giving(ops.rmsnorm_backward, _d_weight_mean),
    ),
    Reading(
        "rmsnorm_residual",
        "residual_out normalised",
        "The normalised rows are handed on as the residual stream.",
        giving(ops.rmsnorm_residual, lambda r, g: (r[0], r[0])),
    ),
    Reading(
        "rmsnorm_residual",
        "residual_out is the input",
        "The sum is not written back.",
        giving(ops.rmsnorm_residual, lambda r, g: (r[0], g["input"] + 0.0)),
    ),
    Reading(
        "rmsnorm_residual",
        "residual added after the norm",
        "output = rmsnorm(input) + residual.",
        giving(
            ops.rmsnorm_residual, lambda r, g: (ops.rmsnorm(g["input"], g["weight"], g["eps"]) + g["residual"], r[1])
        ),
    ),
    Reading(
        "rmsnorm_residual_backward",
        "residual's gradient missing",
        "Only the path through the norm is followed.",
        fed(ops.rmsnorm_residual_backward, d_residual_out=lambda g: 0.0 * g["d_residual_out"]),
    ),
    Reading(
        "rmsnorm_residual_backward",
        "residual's gradient alone",
        "The path through the norm is left out.",
        giving(ops.rmsnorm_residual_backward, lambda r, g: (g["d_residual_out"] + 0.0, r[1])),
    ),
    Reading(
        "rmsnorm_residual_backward",
        "residual's gradient twice",
        "Caller and kernel both add it.",
        giving(ops.rmsnorm_residual_backward, lambda r, g: (r[0] + g["d_residual_out"], r[1])),
    ),
    Reading(
        "rmsnorm_residual_backward",
        "d_weight assigned",
        "beta is ignored: the gradient is not accumulated.",
        fed(ops.rmsnorm_residual_backward, beta=lambda g: 0.0),
    ),
)
