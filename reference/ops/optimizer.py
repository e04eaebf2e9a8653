"""AdamW, gradient clipping and what they need over many arrays at once. Arrays of one call have any shape."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reference.arrays import Array, check, check_same_shape, ieee

from .blocks import BLOCK, Memory, each, is_plain, updated


@ieee
def adamw_step(
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
    """One update with decoupled decay (Loshchilov and Hutter 2019, algorithm 2); step counts from 1.

    Returns the new param, m and v.
    """
    check(step >= 1, "adamw_step", "step", "step >= 1", step)
    check_same_shape("adamw_step", param=param, grad=grad, m=m, v=v)
    return adam_update(param, grad, m, v, 1.0, lr, beta1, beta2, eps, weight_decay, step)


def adam_update(
    param: Array,
    grad: Array,
    m: Array,
    v: Array,
    grad_scale: float,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    step: int,
) -> tuple[Array, Array, Array]:
    """What adamw_step makes of a gradient that is taken times grad_scale."""
    correction1, correction2 = 1.0 - beta1**step, 1.0 - beta2**step
    rate, kept = lr / correction1, 1.0 - lr * weight_decay

    def formula(param: Array, m: Array, v: Array, grad: Array, out: Memory = (None,) * 3) -> tuple[Array, ...]:
        in_param, in_m, in_v = out
        g = grad * grad_scale
        m = np.add(np.multiply(beta1, m, out=in_m), (1.0 - beta1) * g, out=in_m)
        v = np.add(np.multiply(beta2, v, out=in_v), (1.0 - beta2) * (g * g), out=in_v)
        update = rate * (m / (np.sqrt(v / correction2) + eps))
        return np.subtract(np.multiply(kept, param, out=in_param), update, out=in_param), m, v

    new_param, new_m, new_v = updated(formula, (param, m, v), grad)
    return new_param, new_m, new_v


@ieee
def multi_adamw(
    params: Sequence[Array],
    grads: Sequence[Array],
    ms: Sequence[Array],
    vs: Sequence[Array],
    weight_decays: Sequence[float] | Array,
    grad_scale: Array,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    step: int,
) -> tuple[list[Array], list[Array], list[Array]]:
    """adamw_step of every array, its gradient taken times grad_scale[0], its decay weight_decays[i].

    Returns the new params, ms and vs.
    """
    check(step >= 1, "multi_adamw", "step", "step >= 1", step)
    for name, given in (("grads", grads), ("ms", ms), ("vs", vs), ("weight_decays", weight_decays)):
        check(len(given) == len(params), "multi_adamw", name, f"{len(params)}, as many as params", len(given))

    def update(item: tuple[Array, ...]) -> tuple[Array, Array, Array]:
        param, grad, m, v, weight_decay = item
        check_same_shape("multi_adamw", params=param, grads=grad, ms=m, vs=v)
        return adam_update(param, grad, m, v, grad_scale[0], lr, beta1, beta2, eps, weight_decay, step)

    updated = each(update, zip(params, grads, ms, vs, weight_decays, strict=True), _many(params))
    return [new[0] for new in updated], [new[1] for new in updated], [new[2] for new in updated]


@ieee
def zero_grad(size: int) -> Array:
    """size zeros."""
    return np.zeros(size)


@ieee
def grad_clip(grad: Array, clip_norm: float) -> tuple[Array, Array]:
    """grad * clip_norm / total_norm where the norm exceeds clip_norm, and the norm before clipping: (1,)."""
    check(clip_norm > 0, "grad_clip", "clip_norm", "clip_norm > 0", clip_norm)
    total_norm, factor = clip_scale(_sum_squares(grad), clip_norm)
    return grad * factor, total_norm


@ieee
def multi_sum_squares(inputs: Sequence[Array]) -> Array:
    """The sum over every element of every array of its square: (1,)."""
    return np.sum(np.concatenate(each(_sum_squares, inputs, _many(inputs))), keepdims=True)


def multi_nonfinite(inputs: Sequence[Array]) -> Array:
    """How many elements of all arrays are infinite or no number: int32 (1,), at most 2^31 - 1."""
    found = sum(int(np.count_nonzero(~np.isfinite(array))) for array in inputs)
    return np.array([min(found, 2**31 - 1)], np.int32)


def multi_sum_squares_nonfinite(inputs: Sequence[Array]) -> tuple[Array, Array]:
    """multi_sum_squares and multi_nonfinite of the same arrays: (1,) and int32 (1,)."""
    return multi_sum_squares(inputs), multi_nonfinite(inputs)


def _many(arrays: Sequence[Array]) -> bool:
    """Whether there is enough in the arrays for more than one thread."""
    return is_plain(*arrays) and sum(array.size for array in arrays) > BLOCK


def _sum_squares(array: Array) -> Array:
    if not is_plain(array):
        return np.sum(array * array).reshape(1)
    row = array.reshape(1, -1)
    return (row @ row.T).reshape(1)  # the same sum by BLAS, without a temporary


@ieee
def clip_scale(sum_squares: Array, clip_norm: float) -> tuple[Array, Array]:
    """The norm, and the factor clip_norm / norm where it exceeds clip_norm, else 1: (1,) each."""
    check(clip_norm > 0, "clip_scale", "clip_norm", "clip_norm > 0", clip_norm)
    total_norm = np.sqrt(sum_squares)
    return total_norm, np.where(total_norm > clip_norm, clip_norm / total_norm, 1.0)


@ieee
def multi_scale(arrays: Sequence[Array], scale: Array) -> list[Array]:
    """Every array times scale[0]."""
    return [array * scale[0] for array in arrays]
