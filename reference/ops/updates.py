"""One update of one array whose decay is part of the gradient: descent, momentum, Adam. Arrays have any shape."""

from __future__ import annotations

import numpy as np

from reference.arrays import Array, check, check_same_shape, ieee

from .blocks import Memory, updated
from .optimizer import adam_update


@ieee
def sgd_step(param: Array, grad: Array, lr: float, weight_decay: float) -> Array:
    """param - lr * (grad + weight_decay * param).  Returns the new param."""
    check_same_shape("sgd_step", param=param, grad=grad)

    def formula(param: Array, grad: Array, out: Memory = (None,)) -> tuple[Array]:
        (in_param,) = out
        return (np.subtract(param, lr * (grad + weight_decay * param), out=in_param),)

    (new_param,) = updated(formula, (param,), grad)
    return new_param


@ieee
def momentum_step(
    param: Array, grad: Array, velocity: Array, lr: float, momentum: float, weight_decay: float, nesterov: int
) -> tuple[Array, Array]:
    """One step by a velocity that gradients add up in (Sutskever et al. 2013, with the rate outside as in PyTorch).

    nesterov: 1 looks ahead by one more step of the velocity, 0 does not. Returns the new param and velocity.
    """
    check(nesterov in (0, 1), "momentum_step", "nesterov", "0 or 1", nesterov)
    check_same_shape("momentum_step", param=param, grad=grad, velocity=velocity)

    def formula(param: Array, velocity: Array, grad: Array, out: Memory = (None,) * 2) -> tuple[Array, ...]:
        in_param, in_velocity = out
        g = grad + weight_decay * param
        velocity = np.add(np.multiply(momentum, velocity, out=in_velocity), g, out=in_velocity)
        update = g + momentum * velocity if nesterov else velocity
        return np.subtract(param, lr * update, out=in_param), velocity

    new_param, new_velocity = updated(formula, (param, velocity), grad)
    return new_param, new_velocity


@ieee
def adam_step(
    param: Array,
    grad: Array,
    m: Array,
    v: Array,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    step: int,
) -> tuple[Array, Array, Array]:
    """One update whose decay goes through the moments (Kingma and Ba 2015, algorithm 1); step counts from 1.

    Returns the new param, m and v.
    """
    check(step >= 1, "adam_step", "step", "step >= 1", step)
    check_same_shape("adam_step", param=param, grad=grad, m=m, v=v)
    decayed = grad + weight_decay * param
    return adam_update(param, decayed, m, v, 1.0, lr, beta1, beta2, eps, 0.0, step)
