"""Wrong readings of descent, of momentum, and of Adam with its decay in the gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference.arrays import Array
from reference.ops import optimizer, updates

from .adamw import ADAMW
from .reading import Given, Reading, fed, giving, without_tail


def _gradient(g: Given) -> Array:
    return g["grad"] + g["weight_decay"] * g["param"]


def _descended(update: Callable[[Given], Array]) -> Callable[..., Any]:
    return giving(updates.sgd_step, lambda r, g: g["param"] - g["lr"] * update(g))


def _decayed_after(results: Any, g: Given) -> Array:
    """The parameter that the gradient alone has moved shrinks."""
    moved: Array = g["param"] - g["lr"] * g["grad"]
    return moved * (1.0 - g["lr"] * g["weight_decay"])


def _moved(change: Callable[[Given], tuple[Array, Array]]) -> Callable[..., Any]:
    """momentum_step by another velocity and another update."""

    def results(_: Any, g: Given) -> tuple[Array, Array]:
        velocity, update = change(g)
        return g["param"] - g["lr"] * update, velocity

    return giving(updates.momentum_step, results)


def _looked_ahead(g: Given, velocity: Array, gradient: Array) -> tuple[Array, Array]:
    return velocity, gradient + g["momentum"] * velocity if g["nesterov"] else velocity


def _dampened(g: Given) -> tuple[Array, Array]:
    gradient = _gradient(g)
    return _looked_ahead(g, g["momentum"] * g["velocity"] + (1.0 - g["momentum"]) * gradient, gradient)


def _rate_in_velocity(_: Any, g: Given) -> tuple[Array, Array]:
    """v = momentum * v - lr * g; param + v, or with Nesterov param + momentum * v - lr * g."""
    step = g["lr"] * _gradient(g)
    velocity = g["momentum"] * g["velocity"] - step
    return g["param"] + (g["momentum"] * velocity - step if g["nesterov"] else velocity), velocity


def _old_velocity(g: Given) -> tuple[Array, Array]:
    gradient = _gradient(g)
    velocity = g["momentum"] * g["velocity"] + gradient
    return velocity, gradient + g["momentum"] * g["velocity"] if g["nesterov"] else g["velocity"]


def _old_look_ahead(g: Given) -> tuple[Array, Array]:
    gradient = _gradient(g)
    velocity = g["momentum"] * g["velocity"] + gradient
    return velocity, gradient + g["momentum"] * g["velocity"] if g["nesterov"] else velocity


def _ahead_without_momentum(g: Given) -> tuple[Array, Array]:
    gradient = _gradient(g)
    velocity = g["momentum"] * g["velocity"] + gradient
    return velocity, gradient + velocity if g["nesterov"] else velocity


def _decay_beside(g: Given) -> tuple[Array, Array]:
    velocity = g["momentum"] * g["velocity"] + g["grad"]
    velocity, update = _looked_ahead(g, velocity, g["grad"])
    return velocity, update + g["weight_decay"] * g["param"]


_SGD: tuple[tuple[str, str, Callable[..., Any]], ...] = (
    ("decay ignored", "The parameter is not decayed.", fed(updates.sgd_step, weight_decay=lambda g: 0.0)),
    (
        "decay without the learning rate",
        "The parameter shrinks by weight_decay itself in every step.",
        giving(updates.sgd_step, lambda r, g: g["param"] * (1.0 - g["weight_decay"]) - g["lr"] * g["grad"]),
    ),
    ("decay after the step", "The moved parameter shrinks.", giving(updates.sgd_step, _decayed_after)),
    (
        "decay subtracted",
        "The sign of the decay is that of the step.",
        fed(updates.sgd_step, weight_decay=lambda g: -g["weight_decay"]),
    ),
    ("ascent", "The step is added.", giving(updates.sgd_step, lambda r, g: g["param"] + g["lr"] * _gradient(g))),
    ("rate ignored", "The gradient itself is subtracted.", _descended(lambda g: _gradient(g) / (g["lr"] or 1.0))),
    (
        "tail left out",
        "The loop takes four elements at once and stops before the rest.",
        giving(updates.sgd_step, without_tail),
    ),
)
_MOMENTUM: tuple[tuple[str, str, Callable[..., Any]], ...] = (
    ("dampened", "The gradient enters the velocity times 1 - momentum, as in a running mean.", _moved(_dampened)),
    (
        "rate in the velocity",
        "The velocity holds steps, not gradients, as in Sutskever et al. and Keras.",
        giving(updates.momentum_step, _rate_in_velocity),
    ),
    ("step by the old velocity", "The parameter moves before the velocity does.", _moved(_old_velocity)),
    ("look ahead from the old velocity", "Nesterov's step takes the velocity before it.", _moved(_old_look_ahead)),
    ("look ahead without momentum", "Nesterov's step adds the whole velocity.", _moved(_ahead_without_momentum)),
    ("Nesterov ignored", "There is no look ahead.", fed(updates.momentum_step, nesterov=lambda g: 0)),
    ("Nesterov always", "Every step looks ahead.", fed(updates.momentum_step, nesterov=lambda g: 1)),
    ("decay ignored", "The parameter is not decayed.", fed(updates.momentum_step, weight_decay=lambda g: 0.0)),
    ("decay beside the velocity", "The decay goes into the step alone, as in AdamW.", _moved(_decay_beside)),
    (
        "velocity not decayed",
        "Gradients add up without an end.",
        _moved(lambda g: _looked_ahead(g, g["velocity"] + _gradient(g), _gradient(g))),
    ),
    (
        "velocity of the last gradient",
        "The velocity is assigned, not added to.",
        _moved(lambda g: _looked_ahead(g, _gradient(g), _gradient(g))),
    ),
    (
        "velocity reversed",
        "The velocity holds what is added to the parameter.",
        giving(updates.momentum_step, lambda r, g: (r[0], -r[1])),
    ),
)


def _coupled(function: Callable[..., Any]) -> Callable[..., Any]:
    """A reading of AdamW's step, its decay taken into the gradient first."""
    return giving(updates.adam_step, lambda _, g: function(**{**g, "grad": _gradient(g), "weight_decay": 0.0}))


def _decay_in_first_moment(_: Any, g: Given) -> tuple[Array, ...]:
    """The second moment is that of the gradient alone."""
    m = g["beta1"] * g["m"] + (1.0 - g["beta1"]) * _gradient(g)
    v = g["beta2"] * g["v"] + (1.0 - g["beta2"]) * g["grad"] * g["grad"]
    m_hat, v_hat = m / (1.0 - g["beta1"] ** g["step"]), v / (1.0 - g["beta2"] ** g["step"])
    return g["param"] - g["lr"] * m_hat / (v_hat**0.5 + g["eps"]), m, v


READINGS = (
    *(Reading("sgd_step", name, why, function) for name, why, function in _SGD),
    *(Reading("momentum_step", name, why, function) for name, why, function in _MOMENTUM),
    *(Reading("adam_step", name, why, _coupled(function)) for name, why, function in ADAMW if "decay" not in name),
    Reading("adam_step", "decoupled decay", "The parameter decays beside the step: AdamW.",
            giving(updates.adam_step, lambda _, g: optimizer.adamw_step(**g))),
    Reading("adam_step", "decay ignored", "The parameter is not decayed.",
            fed(updates.adam_step, weight_decay=lambda g: 0.0)),
    Reading("adam_step", "decay in the first moment alone", "The gradient is squared before the decay is added.",
            giving(updates.adam_step, _decay_in_first_moment)),
    Reading("adam_step", "decay subtracted", "The sign of the decay is that of the step.",
            fed(updates.adam_step, weight_decay=lambda g: -g["weight_decay"])),
)  # fmt: skip
