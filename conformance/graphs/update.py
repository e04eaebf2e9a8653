"""The update of a graph's parameters by the header's operations: one norm, then a step of each, from moments of 0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from conformance.limits.adam import bound_update, interpolate
from conformance.limits.noise import Noisy
from graph.kinds.context import copied
from reference.namespace import Ops

from .task import Settings

Arrays = Mapping[str, Any]


def update(ops: Ops, settings: Settings, parameters: Arrays, gradients: Arrays) -> dict[str, Any]:
    """Return the parameters behind an update, by name."""
    clipped = clip(ops, settings.clip_norm, gradients) if settings.clip_norm else gradients
    return {name: _moved(ops, settings, parameters[name], clipped[name]) for name in parameters}


def clip(ops: Ops, most: float, gradients: Arrays) -> dict[str, Any]:
    """Return the gradients, shortened together where their norm is larger than `most`."""
    held = [copied(ops, array) for array in gradients.values()]
    _, scale = ops.clip_scale(ops.multi_sum_squares(held), clip_norm=most)
    return dict(zip(gradients, ops.multi_scale(held, scale), strict=True))


def _moved(ops: Ops, settings: Settings, parameter: Any, gradient: Any) -> Any:
    s, decay = settings, {"weight_decay": settings.weight_decay}
    shape, flat = parameter.shape, copied(ops, parameter.reshape(-1))
    nothing = [ops.scale(flat, scale=0.0) for _ in range(2)]
    moved = gradient.reshape(-1)
    if s.optimizer == "sgd":
        return ops.sgd_step(flat, moved, lr=s.lr, **decay).reshape(shape)
    if s.optimizer == "momentum":
        by = {"lr": s.lr, "momentum": s.momentum, "nesterov": int(s.nesterov)}
        return ops.momentum_step(flat, moved, nothing[0], **by, **decay)[0].reshape(shape)
    name = f"{s.optimizer}_step"
    by = {"lr": s.lr, "beta1": s.beta1, "beta2": s.beta2, "eps": s.eps, "step": s.step + 1}
    results = getattr(ops, name)(flat, moved, *nothing, **by, **decay)
    if isinstance(results[0], Noisy):
        results = _bounded(name, flat, moved, nothing[0], by | decay, results)
    return results[0].reshape(shape)


def _bounded(name: str, parameter: Noisy, gradient: Noisy, nothing: Noisy, by: Mapping[str, Any], results: Any) -> Any:
    """Adam's results with what first-order noise does not see of them."""
    from conformance.limits.adam import as_adamw  # here: only where such a step is judged

    arguments = {"param": parameter.v, "grad": gradient.v, "m": nothing.v, "v": nothing.v}
    numbers = {key: float(np.float32(value)) if isinstance(value, float) else value for key, value in by.items()}
    given = as_adamw(name, {**arguments, **numbers})
    found = dict(zip(("param", "m", "v"), results, strict=True))
    interpolate(found, given)
    bound_update(found, given)
    return tuple(found.values())
