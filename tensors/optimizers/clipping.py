"""Clipping by the one norm over all gradients (Pascanu, Mikolov and Bengio 2013)."""

from __future__ import annotations

from collections.abc import Sequence

from tensors.functions.arrays import array_of, tensor_of
from tensors.tape import Variable
from tensors.tensor import Tensor


def clipping(parameters: Sequence[Variable], clip_norm: float) -> tuple[Tensor, Tensor]:
    """(norm over all gradients, the factor that bounds it by clip_norm), of shape () each; changes nothing."""
    gradients = [one.grad for one in parameters if one.grad is not None]
    ops = parameters[0].value.ops
    squares = ops.multi_sum_squares([array_of(one) for one in gradients])
    norm, factor = ops.clip_scale(squares, clip_norm=clip_norm)
    return tensor_of(norm, ops, ()), tensor_of(factor, ops, ())


def clip_by_global_norm(parameters: Sequence[Variable], clip_norm: float) -> Tensor:
    """Multiply all gradients by what bounds the norm over all of them; return that norm, before, of shape ()."""
    norm, factor = clipping(parameters, clip_norm)
    for one in parameters:
        if one.grad is not None:
            one.grad[...] = one.grad * factor
    return norm
