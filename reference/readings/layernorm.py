"""Wrong readings of layer norm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reference.arrays import Array, accumulate
from reference.ops import layernorm as ops

from .reading import Given, Reading, fed, giving

_ROW_BLOCKS = 32  # whose rows the C library sums on their own, at most
Statistics = Callable[[Array, float], tuple[Array, Array]]


def _mean(x: Array) -> Array:
    return np.mean(x, axis=-1, keepdims=True)


def _variance(x: Array) -> Array:
    centred = x - _mean(x)
    return _mean(centred * centred)


def _sample_variance(x: Array) -> Array:
    """Divided by one less than there are columns."""
    centred = x - _mean(x)
    return np.sum(centred * centred, axis=-1, keepdims=True) / (x.shape[-1] - x.dtype.type(1))


def _eps_outside(x: Array, eps: float) -> tuple[Array, Array]:
    return _mean(x), 1.0 / (np.sqrt(_variance(x)) + eps)


def _of_columns(x: Array, eps: float) -> tuple[Array, Array]:
    """Mean and variance of each column over the rows."""
    mean = np.mean(x, axis=0, keepdims=True)
    centred = x - mean
    return mean + 0.0 * x, 1.0 / np.sqrt(np.mean(centred * centred, axis=0, keepdims=True) + eps) + 0.0 * x


def _of_everything(x: Array, eps: float) -> tuple[Array, Array]:
    mean = np.mean(x)
    centred = x - mean
    return mean + 0.0 * _mean(x), 1.0 / np.sqrt(np.mean(centred * centred) + eps) + 0.0 * _mean(x)


FORWARD: tuple[tuple[str, str, Statistics], ...] = (
    # (what, why, mean and rstd of the rows)
    (
        "divided by hidden_dim - 1",
        "The variance is computed as a sample's is.",
        lambda x, eps: (_mean(x), 1.0 / np.sqrt(_sample_variance(x) + eps)),
    ),
    ("eps outside the root", "eps is added to the standard deviation.", _eps_outside),
    ("eps ignored", "The root is taken of the variance alone.", lambda x, eps: (_mean(x), 1.0 / np.sqrt(_variance(x)))),
    (
        "eps as the least variance",
        "The larger of the variance and eps is taken, not their sum.",
        lambda x, eps: (_mean(x), 1.0 / np.sqrt(np.maximum(_variance(x), eps))),
    ),
    (
        "eps 1e-6",
        "The constant of another framework.",
        lambda x, eps: (_mean(x), 1.0 / np.sqrt(_variance(x) + 1e-6)),
    ),
    (
        "eps 1e-12",
        "The constant of the first encoders.",
        lambda x, eps: (_mean(x), 1.0 / np.sqrt(_variance(x) + 1e-12)),
    ),
    (
        "mean not subtracted",
        "Rows are divided by their root mean square, as in RMSNorm.",
        lambda x, eps: (0.0 * _mean(x), 1.0 / np.sqrt(_mean(x * x) + eps)),
    ),
    (
        "mean of the squares less the mean's square",
        "One pass over the row: the difference holds little of the variance where the mean is large.",
        lambda x, eps: (_mean(x), 1.0 / np.sqrt(_mean(x * x) - _mean(x) * _mean(x) + eps)),
    ),
    (
        "sum in place of the mean",
        "The squared deviations are not divided by the number of columns.",
        lambda x, eps: (_mean(x), 1.0 / np.sqrt(_variance(x) * x.dtype.type(x.shape[-1]) + eps)),
    ),
    ("statistics over the rows", "Mean and variance are those of each column, as in batch norm.", _of_columns),
    ("statistics of everything", "One mean and one variance serve all rows.", _of_everything),
)


def _by(statistics: Statistics) -> Callable[..., Any]:
    """layernorm by other statistics; stored are those of each row's first column."""

    def function(input: Array, weight: Array, bias: Array, eps: float) -> tuple[Array, Array, Array]:
        mean, rstd = statistics(input, eps)
        return (input - mean) * rstd * weight + bias, mean[:, 0], rstd[:, 0]

    return function


def _forward(name: str, why: str, change: Callable[[Any, Given], Any]) -> Reading:
    return Reading("layernorm", name, why, giving(ops.layernorm, change))


def _normalised(g: Given) -> tuple[Array, Array, Array]:
    """h, the gradient of h, and rstd as a column."""
    r = g["rstd"][:, None]
    return (g["input"] - g["mean"][:, None]) * r, g["d_output"] * g["weight"], r


D_INPUT: tuple[tuple[str, str, Callable[[Array, Array, Array], Array]], ...] = (
    # (what, why, d_input of the normalised rows h, the gradient g = d_output * weight and rstd)
    ("mean and deviation as constants", "Nothing is differentiated through them.", lambda h, g, r: r * g),
    ("gradient's mean missing", "The mean is taken as a constant.", lambda h, g, r: r * (g - h * _mean(g * h))),
    ("deviation's term missing", "The deviation is taken as a constant.", lambda h, g, r: r * (g - _mean(g))),
    (
        "sums in place of means",
        "The two terms are not divided by the number of columns.",
        lambda h, g, r: r * (g - g.sum(axis=-1, keepdims=True) - h * (g * h).sum(axis=-1, keepdims=True)),
    ),
    ("deviation's term added", "A sign is lost.", lambda h, g, r: r * (g - _mean(g) + h * _mean(g * h))),
    (
        "input in place of h",
        "The deviation's term holds rows that are centred, but not divided.",
        lambda h, g, r: r * (g - _mean(g) - h / r * _mean(g * h / r)),
    ),
    ("rstd missing", "The gradient is not divided by the deviation.", lambda h, g, r: g - _mean(g) - h * _mean(g * h)),
)


def _d_input(formula: Callable[[Array, Array, Array], Array]) -> Callable[..., Any]:
    return giving(ops.layernorm_backward, lambda r, g: (formula(*_normalised(g)), *r[1:]))


def _backward(name: str, why: str, change: Callable[[Any, Given], Any]) -> Reading:
    return Reading("layernorm_backward", name, why, giving(ops.layernorm_backward, change))


def _given_anew(name: str, why: str, **changes: Callable[[Given], Any]) -> Reading:
    return Reading("layernorm_backward", name, why, fed(ops.layernorm_backward, **changes))


def _unweighted(r: Any, g: Given) -> Any:
    h, _, rstd = _normalised(g)
    d = g["d_output"]
    return (rstd * (d - _mean(d) - h * _mean(d * h)), *r[1:])


def _d_weight(of: Callable[[Given], Array]) -> Callable[[Any, Given], Any]:
    """Another d_weight: the sum over rows of d_output times something else."""

    def change(r: Any, g: Given) -> Any:
        return r[0], accumulate(np.sum(g["d_output"] * of(g), axis=0), g["d_weight"], g["beta"]), r[2]

    return change


def _averaged(r: Any, g: Given) -> Any:
    rows = g["d_output"].dtype.type(len(g["d_output"]))
    h, _, _ = _normalised(g)
    d_weight = accumulate(np.sum(g["d_output"] * h, axis=0) / rows, g["d_weight"], g["beta"])
    return r[0], d_weight, accumulate(np.sum(g["d_output"], axis=0) / rows, g["d_bias"], g["beta"])


def _second_block_lost(r: Any, g: Given) -> Any:
    rows, d_output = len(g["d_output"]), g["d_output"]
    lost = np.arange(rows) // -(-rows // _ROW_BLOCKS) == 1
    seen = np.where(lost[:, None], d_output.dtype.type(0), d_output)
    return r[0], *ops.layernorm_backward(**{**g, "d_output": seen})[1:]


READINGS = (
    *(Reading("layernorm", name, why, _by(statistics)) for name, why, statistics in FORWARD),
    _forward("bias left out", "Only scaled.", lambda r, g: (r[0] - g["bias"], *r[1:])),
    Reading(
        "layernorm",
        "weight left out",
        "Only shifted.",
        giving(ops.layernorm, lambda r, g: ((g["input"] - r[1][:, None]) * r[2][:, None] + g["bias"], *r[1:])),
    ),
    _forward(
        "one plus weight",
        "The weight is stored as its distance from 1.",
        lambda r, g: (r[0] + (g["input"] - r[1][:, None]) * r[2][:, None], *r[1:]),
    ),
    _forward(
        "bias before weight",
        "The normalised row is shifted first, and scaled then.",
        lambda r, g: (((g["input"] - r[1][:, None]) * r[2][:, None] + g["bias"]) * g["weight"], *r[1:]),
    ),
    Reading(
        "layernorm",
        "weight and bias exchanged",
        "Two arrays of one shape.",
        fed(ops.layernorm, weight=lambda g: g["bias"], bias=lambda g: g["weight"]),
    ),
    _forward("deviation stored", "rstd holds the standard deviation.", lambda r, g: (*r[:2], 1.0 / r[2])),
    _forward("variance stored", "rstd holds the variance.", lambda r, g: (*r[:2], _variance(g["input"])[:, 0])),
    _forward("mean and rstd exchanged", "Two arrays of one shape.", lambda r, g: (r[0], r[2], r[1])),
    *(Reading("layernorm_backward", name, why, _d_input(formula)) for name, why, formula in D_INPUT),
    _backward("weight missing in d_input", "g is taken as d_output.", _unweighted),
    _backward("d_weight of the input", "The input is not normalised in it.", _d_weight(lambda g: g["input"])),
    _backward(
        "d_weight not divided",
        "The input is centred in it, but not divided by the deviation.",
        _d_weight(lambda g: g["input"] - g["mean"][:, None]),
    ),
    _backward(
        "d_weight of x * rstd",
        "The mean is not subtracted in it.",
        _d_weight(lambda g: g["input"] * g["rstd"][:, None]),
    ),
    _backward("gradients averaged", "The rows' d_weight and d_bias are averaged instead of added.", _averaged),
    _backward("second block of rows lost", "The loop that joins blocks' sums begins one too late.", _second_block_lost),
    _backward("d_weight and d_bias exchanged", "Two arrays of one shape.", lambda r, g: (r[0], r[2], r[1])),
    _backward(
        "d_bias weighted",
        "d_bias sums g = d_output * weight.",
        lambda r, g: (*r[:2], accumulate(np.sum(g["d_output"] * g["weight"], axis=0), g["d_bias"], g["beta"])),
    ),
    _given_anew("gradients assigned", "beta is ignored: nothing is accumulated.", beta=lambda g: 0.0),
    _given_anew(
        "rstd as the deviation",
        "It is divided by, not multiplied with.",
        rstd=lambda g: g["rstd"].dtype.type(1) / g["rstd"],
    ),
    _given_anew("mean ignored", "The rows are taken as centred already.", mean=lambda g: 0.0 * g["mean"]),
)
