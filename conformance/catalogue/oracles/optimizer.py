"""Updates of parameters and clipping, one number at a time."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from .numbers import Matrix, Number, Vector, dot


def adamw_step(
    param: Vector, grad: Vector, m: Vector, v: Vector,
    lr: Number, beta1: Number, beta2: Number, eps: Number, weight_decay: Number, step: int,
) -> tuple[Vector, ...]:  # fmt: skip
    def updated(p: Number, g: Number, m: Number, v: Number) -> tuple[Number, Number, Number]:
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g**2
        m_hat, v_hat = m / (1 - beta1**step), v / (1 - beta2**step)
        return p - lr * (m_hat / (v_hat.sqrt() + eps) + weight_decay * p), m, v

    return tuple(list(part) for part in zip(*map(updated, param, grad, m, v), strict=True))


def sgd_step(param: Vector, grad: Vector, lr: Number, weight_decay: Number) -> Vector:
    return [p - lr * (g + weight_decay * p) for p, g in zip(param, grad, strict=True)]


def momentum_step(
    param: Vector, grad: Vector, velocity: Vector, lr: Number, momentum: Number, weight_decay: Number, nesterov: int
) -> tuple[Vector, ...]:
    def updated(p: Number, g: Number, v: Number) -> tuple[Number, Number]:
        g = g + weight_decay * p
        v = momentum * v + g
        return p - lr * (g + momentum * v if nesterov else v), v

    return tuple(list(part) for part in zip(*map(updated, param, grad, velocity), strict=True))


def adam_step(
    param: Vector, grad: Vector, m: Vector, v: Vector,
    lr: Number, beta1: Number, beta2: Number, eps: Number, weight_decay: Number, step: int,
) -> tuple[Vector, ...]:  # fmt: skip
    decayed = [g + weight_decay * p for p, g in zip(param, grad, strict=True)]
    return adamw_step(param, decayed, m, v, lr, beta1, beta2, eps, Decimal(0), step)


def multi_adamw(
    params: Matrix, grads: Matrix, ms: Matrix, vs: Matrix, weight_decays: Vector, grad_scale: Vector,
    lr: Number, beta1: Number, beta2: Number, eps: Number, step: int,
) -> tuple[Sequence[Vector], ...]:  # fmt: skip
    steps = [
        adamw_step(param, [g * grad_scale[0] for g in grad], m, v, lr, beta1, beta2, eps, decay, step)
        for param, grad, m, v, decay in zip(params, grads, ms, vs, weight_decays, strict=True)
    ]
    return tuple(zip(*steps, strict=True))


def zero_grad(size: int) -> Vector:
    return [Decimal(0)] * size


def grad_clip(grad: Vector, clip_norm: Number) -> tuple[Vector, Vector]:
    norm, scale = clip_scale([dot(grad, grad)], clip_norm)
    return [g * scale[0] for g in grad], norm


def multi_sum_squares(inputs: Matrix) -> Vector:
    return [sum((dot(array, array) for array in inputs), Decimal(0))]


def multi_nonfinite(inputs: Matrix) -> Vector:
    return [Decimal(sum(not x.is_finite() for array in inputs for x in array))]


def multi_sum_squares_nonfinite(inputs: Matrix) -> tuple[Vector, Vector]:
    return multi_sum_squares(inputs), multi_nonfinite(inputs)


def clip_scale(sum_squares: Vector, clip_norm: Number) -> tuple[Vector, Vector]:
    norm = sum_squares[0].sqrt()
    return [norm], [clip_norm / norm if norm > clip_norm else Decimal(1)]


def multi_scale(arrays: Matrix, scale: Vector) -> Matrix:
    return [[x * scale[0] for x in array] for array in arrays]
