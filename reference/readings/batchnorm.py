"""Wrong readings of batch norm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reference.arrays import Array, accumulate
from reference.ops import batchnorm as ops
from reference.ops.batchnorm import of_channels

from .reading import Given, Reading, fed, giving

_EVERY = (0, 2)
Statistics = Callable[[Array, float], tuple[Array, Array]]


def _mean(x: Array, axes: tuple[int, ...] = _EVERY) -> Array:
    return np.mean(x, axis=axes, keepdims=True)


def _variance(x: Array, axes: tuple[int, ...] = _EVERY) -> Array:
    centred = x - _mean(x, axes)
    return _mean(centred * centred, axes)


def _sample_variance(x: Array) -> Array:
    count = x.shape[0] * x.shape[2]
    return _variance(x) * x.dtype.type(count / (count - 1))


def _of(*axes: int) -> Statistics:
    """Mean and rstd over other axes."""
    return lambda x, eps: (_mean(x, axes), 1.0 / np.sqrt(_variance(x, axes) + eps))


STATISTICS: tuple[tuple[str, str, Statistics], ...] = (
    # (what, why, mean and rstd as they meet the input)
    (
        "variance of a sample",
        "The output is scaled by the variance that is kept: divided by count - 1.",
        lambda x, eps: (_mean(x), 1.0 / np.sqrt(_sample_variance(x) + eps)),
    ),
    ("statistics of each element", "They are taken over the batch alone.", _of(0)),
    ("statistics of each sample", "They are taken over space alone, as in instance norm.", _of(2)),
    ("statistics over channels", "They are taken over channels and space, as in layer norm.", _of(1, 2)),
    ("statistics of everything", "One mean and one variance serve all channels.", _of(0, 1, 2)),
    (
        "eps outside the root",
        "eps is added to the standard deviation.",
        lambda x, eps: (_mean(x), 1.0 / (np.sqrt(_variance(x)) + eps)),
    ),
    ("eps ignored", "The root is taken of the variance alone.", lambda x, eps: (_mean(x), 1.0 / np.sqrt(_variance(x)))),
    (
        "eps 0.001",
        "The constant of another framework.",
        lambda x, eps: (_mean(x), 1.0 / np.sqrt(_variance(x) + 1e-3)),
    ),
    (
        "mean not subtracted",
        "The deviation is taken from zero.",
        lambda x, eps: (0.0 * _mean(x), 1.0 / np.sqrt(_mean(x * x) + eps)),
    ),
    (
        "mean of the squares less the mean's square",
        "One pass: in float32 the difference holds little of the variance where the mean is large.",
        lambda x, eps: (_mean(x), 1.0 / np.sqrt(_mean(x * x) - _mean(x) * _mean(x) + eps)),
    ),
)


def _first(values: Array, x: Array) -> Array:
    """Of statistics that are not one number a channel, those of a channel's first element."""
    return (values + 0.0 * x)[0, :, 0]


def _trained_by(statistics: Statistics) -> Callable[..., Any]:
    def change(r: Any, g: Given) -> Any:
        mean, rstd = statistics(g["input"], g["eps"])
        output = (g["input"] - mean) * rstd * of_channels(g["weight"]) + of_channels(g["bias"])
        return output, _first(mean, g["input"]), _first(rstd, g["input"]), *r[3:]

    return giving(ops.batchnorm_training, change)


def _training(name: str, why: str, change: Callable[[Any, Given], Any]) -> Reading:
    return Reading("batchnorm_training", name, why, giving(ops.batchnorm_training, change))


def _moved(old: Array, new: Array, momentum: float) -> Array:
    return (1.0 - momentum) * old + momentum * new


def _kept_var(variance: Callable[[Array], Array]) -> Callable[[Any, Given], Any]:
    """Another variance in the running one."""
    return lambda r, g: (*r[:4], _moved(g["running_var"], variance(g["input"])[0, :, 0], g["momentum"]))


def _by_running(r: Any, g: Given) -> Any:
    rest = (g[name] for name in ("input", "weight", "bias", "running_mean", "running_var", "eps"))
    return ops.batchnorm_evaluation(*rest), *r[1:]


def _not_updated(r: Any, g: Given) -> Any:
    return *r[:3], g["running_mean"] + 0.0, g["running_var"] + 0.0


RUNNING: tuple[tuple[str, str, Callable[[Any, Given], Any]], ...] = (
    ("running variance not of a sample", "It is divided by count.", _kept_var(_variance)),
    (
        "running deviation",
        "The standard deviation is kept.",
        _kept_var(lambda x: np.sqrt(_sample_variance(x))),
    ),
    (
        "momentum the other way round",
        "It is taken for the share of what was there, as in other frameworks.",
        lambda r, g: (
            *r[:3],
            _moved(g["running_mean"], r[1], 1.0 - g["momentum"]),
            _moved(g["running_var"], _sample_variance(g["input"])[0, :, 0], 1.0 - g["momentum"]),
        ),
    ),
    (
        "running statistics not updated",
        "They stay as they were.",
        _not_updated,
    ),
    (
        "running statistics assigned",
        "momentum is ignored.",
        lambda r, g: (*r[:3], r[1] + 0.0, _sample_variance(g["input"])[0, :, 0]),
    ),
    (
        "running statistics by a momentum of 0.1",
        "The number that most layers have stands in place of the argument.",
        lambda r, g: (
            *r[:3],
            _moved(g["running_mean"], r[1], 0.1),
            _moved(g["running_var"], _sample_variance(g["input"])[0, :, 0], 0.1),
        ),
    ),
    (
        "running variance by a momentum of 0.1",
        "The argument reaches the mean alone.",
        lambda r, g: (*r[:4], _moved(g["running_var"], _sample_variance(g["input"])[0, :, 0], 0.1)),
    ),
    ("running variance not updated", "The mean alone is kept.", lambda r, g: (*r[:4], g["running_var"] + 0.0)),
    (
        "running statistics not decayed",
        "The new ones are added to all of the old ones.",
        lambda r, g: (
            *r[:3],
            r[3] + g["running_mean"] * g["momentum"],
            r[4] + g["running_var"] * g["momentum"],
        ),
    ),
    ("running mean and variance exchanged", "Two arrays of one shape.", lambda r, g: (*r[:3], r[4], r[3])),
    ("normalised by running statistics", "As when it is evaluated.", _by_running),
    ("deviation stored", "rstd holds the standard deviation.", lambda r, g: (*r[:2], 1.0 / r[2], *r[3:])),
    ("mean and rstd exchanged", "Two arrays of one shape.", lambda r, g: (r[0], r[2], r[1], *r[3:])),
    ("bias left out", "Only scaled.", lambda r, g: (r[0] - of_channels(g["bias"]), *r[1:])),
)


def _exchanged(operation: Callable[..., Any]) -> Reading:
    swapped = fed(operation, weight=lambda g: g["bias"], bias=lambda g: g["weight"])
    return Reading(operation.__name__, "weight and bias exchanged", "Two arrays of one shape.", swapped)


def _evaluated(rstd: Callable[[Given], Array], mean: Callable[[Given], Array] = lambda g: g["running_mean"]) -> Any:
    """batchnorm_evaluation by other statistics."""

    def change(r: Any, g: Given) -> Any:
        scale = of_channels(rstd(g) * g["weight"])
        return (g["input"] - of_channels(mean(g))) * scale + of_channels(g["bias"])

    return giving(ops.batchnorm_evaluation, change)


def _usual(g: Given) -> Array:
    return 1.0 / np.sqrt(g["running_var"] + g["eps"])


def _own(g: Given) -> Array:
    return 1.0 / np.sqrt(_variance(g["input"])[0, :, 0] + g["eps"])


def _own_mean(g: Given) -> Array:
    return _mean(g["input"])[0, :, 0]


EVALUATION: tuple[tuple[str, str, Any], ...] = (
    (
        "the batch's own statistics",
        "As in training.",
        _evaluated(_own, _own_mean),
    ),
    (
        "the batch's own mean",
        "The variance alone is the running one.",
        _evaluated(_usual, _own_mean),
    ),
    (
        "eps outside the root",
        "eps is added to the standard deviation.",
        _evaluated(lambda g: 1.0 / (np.sqrt(g["running_var"]) + g["eps"])),
    ),
    ("eps ignored", "The root is taken of the variance alone.", _evaluated(lambda g: 1.0 / np.sqrt(g["running_var"]))),
    (
        "eps 0.001",
        "The constant of another framework.",
        _evaluated(lambda g: 1.0 / np.sqrt(g["running_var"] + 1e-3)),
    ),
    ("running_var as the deviation", "No root is taken.", _evaluated(lambda g: 1.0 / (g["running_var"] + g["eps"]))),
    ("running_var as rstd", "It is multiplied with.", _evaluated(lambda g: g["running_var"])),
    ("mean not subtracted", "Scaled and shifted alone.", _evaluated(_usual, lambda g: 0.0 * g["running_mean"])),
    (
        "bias left out",
        "Only scaled.",
        giving(ops.batchnorm_evaluation, lambda r, g: r - of_channels(g["bias"])),
    ),
    ("weight left out", "Only shifted.", fed(ops.batchnorm_evaluation, weight=lambda g: np.ones_like(g["weight"]))),
    (
        "running mean and variance exchanged",
        "Two arrays of one shape.",
        fed(ops.batchnorm_evaluation, running_mean=lambda g: g["running_var"], running_var=lambda g: g["running_mean"]),
    ),
)


def _h(g: Given) -> Array:
    return (g["input"] - of_channels(g["mean"])) * of_channels(g["rstd"])


D_INPUT: tuple[tuple[str, str, Callable[[Array, Array, Array], Array]], ...] = (
    # (what, why, d_input over weight * rstd, of h, d_output and rstd)
    ("statistics as constants", "Nothing is differentiated through them.", lambda h, d, r: d + 0.0),
    ("gradient's mean missing", "The mean is taken as a constant.", lambda h, d, r: d - h * _mean(d * h)),
    ("deviation's term missing", "The deviation is taken as a constant.", lambda h, d, r: d - _mean(d)),
    ("deviation's term added", "A sign is lost.", lambda h, d, r: d - _mean(d) + h * _mean(d * h)),
    (
        "sums in place of means",
        "The two terms are not divided by the count.",
        lambda h, d, r: d - d.sum(axis=_EVERY, keepdims=True) - h * (d * h).sum(axis=_EVERY, keepdims=True),
    ),
    (
        "means of each element",
        "The two terms are taken over the batch alone.",
        lambda h, d, r: d - _mean(d, (0,)) - h * _mean(d * h, (0,)),
    ),
    (
        "means of each sample",
        "The two terms are taken over space alone.",
        lambda h, d, r: d - _mean(d, (2,)) - h * _mean(d * h, (2,)),
    ),
    (
        "rstd missing",
        "It is not divided by the deviation.",
        lambda h, d, r: (d - _mean(d) - h * _mean(d * h)) / r,
    ),
)


def _d_input(formula: Callable[[Array, Array, Array], Array]) -> Callable[..., Any]:
    def change(r: Any, g: Given) -> Any:
        rstd = of_channels(g["rstd"])
        return of_channels(g["weight"]) * rstd * formula(_h(g), g["d_output"], rstd), *r[1:]

    return giving(ops.batchnorm_backward, change)


def _backward(name: str, why: str, change: Callable[[Any, Given], Any]) -> Reading:
    return Reading("batchnorm_backward", name, why, giving(ops.batchnorm_backward, change))


def _given_anew(name: str, why: str, **changes: Callable[[Given], Any]) -> Reading:
    return Reading("batchnorm_backward", name, why, fed(ops.batchnorm_backward, **changes))


def _d_weight(of: Callable[[Given], Array]) -> Callable[[Any, Given], Any]:
    """Another d_weight: the sum of d_output times something else."""
    return lambda r, g: (
        r[0],
        accumulate(np.sum(g["d_output"] * of(g), axis=_EVERY), g["d_weight"], g["beta"]),
        r[2],
    )


def _averaged(r: Any, g: Given) -> Any:
    sums = np.mean(g["d_output"] * _h(g), axis=_EVERY), np.mean(g["d_output"], axis=_EVERY)
    return r[0], *(accumulate(s, g[name], g["beta"]) for s, name in zip(sums, ("d_weight", "d_bias"), strict=True))


READINGS = (
    *(Reading("batchnorm_training", name, why, _trained_by(statistics)) for name, why, statistics in STATISTICS),
    *(_training(name, why, change) for name, why, change in RUNNING),
    _exchanged(ops.batchnorm_training),
    *(Reading("batchnorm_evaluation", name, why, function) for name, why, function in EVALUATION),
    _exchanged(ops.batchnorm_evaluation),
    *(Reading("batchnorm_backward", name, why, _d_input(formula)) for name, why, formula in D_INPUT),
    _backward("weight missing in d_input", "It is not scaled.", lambda r, g: (r[0] / of_channels(g["weight"]), *r[1:])),
    _backward("d_weight of the input", "The input is not normalised in it.", _d_weight(lambda g: g["input"])),
    _backward(
        "d_weight not divided",
        "The input is centred in it, but not divided by the deviation.",
        _d_weight(lambda g: g["input"] - of_channels(g["mean"])),
    ),
    _backward(
        "d_weight of x * rstd",
        "The mean is not subtracted in it.",
        _d_weight(lambda g: g["input"] * of_channels(g["rstd"])),
    ),
    _backward("gradients averaged", "d_weight and d_bias are means, not sums.", _averaged),
    _backward("d_weight and d_bias exchanged", "Two arrays of one shape.", lambda r, g: (r[0], r[2], r[1])),
    _given_anew("gradients assigned", "beta is ignored: nothing is accumulated.", beta=lambda g: 0.0),
    _given_anew(
        "rstd as the deviation",
        "It is divided by, not multiplied with.",
        rstd=lambda g: g["rstd"].dtype.type(1) / g["rstd"],
    ),
    _given_anew("mean ignored", "The channels are taken as centred already.", mean=lambda g: 0.0 * g["mean"]),
)
