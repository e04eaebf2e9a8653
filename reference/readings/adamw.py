"""Wrong readings of AdamW, of one array and of many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reference.arrays import Array
from reference.ops import optimizer as ops

from .reading import Given, Reading, fed, giving, without_tail


def _moments(g: Given) -> tuple[Array, Array]:
    m = g["beta1"] * g["m"] + (1.0 - g["beta1"]) * g["grad"]
    return m, g["beta2"] * g["v"] + (1.0 - g["beta2"]) * g["grad"] * g["grad"]


def _corrected(g: Given) -> tuple[Array, Array]:
    m, v = _moments(g)
    return m / (1.0 - g["beta1"] ** g["step"]), v / (1.0 - g["beta2"] ** g["step"])


def _updated(update: Callable[[Given], Array]) -> Callable[..., Any]:
    """adamw_step whose parameter becomes param - lr * update."""
    return giving(ops.adamw_step, lambda r, g: (g["param"] - g["lr"] * update(g), r[1], r[2]))


def _eps_inside(g: Given) -> Array:
    m, v = _corrected(g)
    return m / np.sqrt(v + g["eps"]) + g["weight_decay"] * g["param"]


def _eps_squared_inside(g: Given) -> Array:
    m, v = _corrected(g)
    return m / np.sqrt(v + g["eps"] ** 2) + g["weight_decay"] * g["param"]


def _uncorrected(g: Given) -> Array:
    m, v = _moments(g)
    return m / (np.sqrt(v) + g["eps"]) + g["weight_decay"] * g["param"]


def _eps_before_correction(g: Given) -> Array:
    m, v = _moments(g)
    first, second = 1.0 - g["beta1"] ** g["step"], 1.0 - g["beta2"] ** g["step"]
    return second**0.5 / first * m / (np.sqrt(v) + g["eps"]) + g["weight_decay"] * g["param"]


def _unmoved_at_rest(g: Given) -> Array:
    m, v = _corrected(g)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(m == 0, m, m / (np.sqrt(v) + g["eps"])) + g["weight_decay"] * g["param"]


def _no_root(g: Given) -> Array:
    m, v = _corrected(g)
    return m / (v + g["eps"]) + g["weight_decay"] * g["param"]


def _second_moment_by_beta1(results: Any, g: Given) -> tuple[Array, Array, Array]:
    """v = beta2 * v + (1 - beta1) * g^2."""
    v = g["beta2"] * g["v"] + (1.0 - g["beta1"]) * g["grad"] * g["grad"]
    m_hat, v_hat = results[1] / (1.0 - g["beta1"] ** g["step"]), v / (1.0 - g["beta2"] ** g["step"])
    update = m_hat / (np.sqrt(v_hat) + g["eps"]) + g["weight_decay"] * g["param"]
    return g["param"] - g["lr"] * update, results[1], v


def _from_zero(_: Any, g: Given) -> Any:
    rate = g["param"].dtype.type(1) * g["lr"]  # which divides by 0 as C does
    return ops.adam_update(**{**g, "lr": rate, "step": g["step"] - 1}, grad_scale=1.0)


ADAMW: tuple[tuple[str, str, Callable[..., Any]], ...] = (
    ("eps inside the root", "eps is added to the second moment before the root.", _updated(_eps_inside)),
    (
        "eps squared inside the root",
        "The root of a sum of squares is taken for a sum with eps, as in a norm that is protected from 0.",
        _updated(_eps_squared_inside),
    ),
    ("no step where the moment is 0", "0 / 0 is taken for 0.", _updated(_unmoved_at_rest)),
    (
        "L2 decay in the gradient",
        "The decay goes through the moments, as in Adam.",
        fed(
            ops.adamw_step,
            grad=lambda g: g["grad"] + g["weight_decay"] * g["param"],
            weight_decay=lambda g: 0.0,
        ),
    ),
    ("no bias correction", "The moments are used as they are.", _updated(_uncorrected)),
    (
        "second moment with 1 - beta1",
        "The wrong weight is taken for the squared gradient.",
        giving(ops.adamw_step, _second_moment_by_beta1),
    ),
    (
        "step from 0",
        "The first update is counted 0, so that its correction divides by 0.",
        giving(ops.adamw_step, _from_zero),
    ),
    (
        "eps before the correction",
        "eps is added to the root of the uncorrected moment.",
        _updated(_eps_before_correction),
    ),
    ("no root", "The update is divided by the second moment itself.", _updated(_no_root)),
    (
        "betas exchanged",
        "beta1 is taken for the second moment.",
        fed(ops.adamw_step, beta1=lambda g: g["beta2"], beta2=lambda g: g["beta1"]),
    ),
    ("decay ignored", "The parameter is not decayed.", fed(ops.adamw_step, weight_decay=lambda g: 0.0)),
    (
        "decay without the learning rate",
        "The parameter shrinks by weight_decay itself in every update.",
        fed(ops.adamw_step, weight_decay=lambda g: g["weight_decay"] / (g["lr"] or 1.0)),
    ),
    (
        "decay of the new parameter",
        "The update is applied before the decay.",
        giving(
            ops.adamw_step,
            lambda r, g: (
                (r[0] + g["lr"] * g["weight_decay"] * g["param"]) * (1.0 - g["lr"] * g["weight_decay"]),
                r[1],
                r[2],
            ),
        ),
    ),
)


def _on_many(function: Callable[..., Any]) -> Callable[..., Any]:
    """A reading of one update on every array of multi_adamw."""

    def change(_: Any, g: Given) -> tuple[list[Array], ...]:
        rest = {name: g[name] for name in ("lr", "beta1", "beta2", "eps", "step")}
        each = zip(g["params"], g["grads"], g["ms"], g["vs"], g["weight_decays"], strict=True)
        new = [
            function(param, grad * g["grad_scale"][0], m, v, weight_decay=decay, **rest)
            for param, grad, m, v, decay in each
        ]
        return tuple([one[part] for one in new] for part in range(3))

    return giving(ops.multi_adamw, change)


READINGS = (
    *(Reading("adamw_step", name, why, function) for name, why, function in ADAMW),
    *(Reading("multi_adamw", name, why, _on_many(function)) for name, why, function in ADAMW),
    Reading(
        "adamw_step",
        "tail left out",
        "The loop takes four elements at once and stops before the rest.",
        giving(ops.adamw_step, without_tail),
    ),
    Reading(
        "multi_adamw",
        "grad_scale ignored",
        "The gradients are not clipped.",
        fed(ops.multi_adamw, grad_scale=lambda g: np.ones_like(g["grad_scale"])),
    ),
    Reading(
        "multi_adamw",
        "one decay for all",
        "The first array's decay is used for every one.",
        fed(ops.multi_adamw, weight_decays=lambda g: [g["weight_decays"][0]] * len(g["params"])),
    ),
)
