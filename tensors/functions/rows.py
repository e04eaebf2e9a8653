"""Functions of rows, each one operation of the header forward and one or two backward."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensors.creation import zeros
from tensors.tape import Context, Function, Gradients
from tensors.tensor import Tensor

from .arrays import array_of, rows_of, tensor_of


class Linear(Function):
    """x W^T. x: (..., in), weight: (out, in); the result is (..., out)."""

    @staticmethod
    def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
        x, weight = inputs
        context.save(x, weight)
        return tensor_of(x.ops.gemm(rows_of(x), array_of(weight)), x.ops, (*x.shape[:-1], weight.shape[0]))

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        x, weight = context.saved
        ops, d_y = x.ops, rows_of(gradient)
        d_x = d_weight = None
        if context.needs[0]:
            d_x = tensor_of(ops.gemm_nn(d_y, array_of(weight), None, alpha=1.0, beta=0.0), ops, x.shape)
        if context.needs[1]:
            d_weight = tensor_of(ops.gemm_tn(d_y, rows_of(x), None, alpha=1.0, beta=0.0), ops)
        return d_x, d_weight


class Take(Function):
    """Rows of a table by their numbers, as often as they are named: weight (rows, columns), indices int32, any shape.

    The gradient adds up what belongs to one row.
    """

    @staticmethod
    def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
        (weight,), indices = inputs, np.array(attributes["indices"], np.int32)
        context.shape, context.indices = weight.shape, indices.reshape(-1)
        taken = weight.ops.embedding(array_of(weight), context.indices)
        return tensor_of(taken, weight.ops, (*indices.shape, weight.shape[1]))

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        ops, d_weight = gradient.ops, zeros(context.shape, gradient.dtype, gradient.ops)
        return (tensor_of(ops.scatter_add(rows_of(gradient), context.indices, array_of(d_weight)), ops),)


class Softmax(Function):
    """Softmax along the last axis."""

    @staticmethod
    def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
        (x,) = inputs
        y = tensor_of(x.ops.softmax(rows_of(x)), x.ops, x.shape)
        context.save(y)
        return y

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        (y,) = context.saved
        return (tensor_of(y.ops.softmax_backward(rows_of(y), rows_of(gradient)), y.ops, y.shape),)


class RMSNorm(Function):
    """x / sqrt(mean(x^2) + eps) * weight along the last axis."""

    @staticmethod
    def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
        x, weight = inputs
        context.eps = attributes["eps"]
        context.save(x, weight)
        return tensor_of(x.ops.rmsnorm(rows_of(x), array_of(weight), eps=context.eps), x.ops, x.shape)

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        x, weight = context.saved
        given = (rows_of(x), array_of(weight), rows_of(gradient), None)
        d_x, d_weight = x.ops.rmsnorm_backward(*given, eps=context.eps, beta=0.0)
        return tensor_of(d_x, x.ops, x.shape), tensor_of(d_weight, x.ops)


class LayerNorm(Function):
    """(x - mean) / sqrt(variance + eps) * weight + bias along the last axis."""

    @staticmethod
    def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
        x, weight, bias = inputs
        given = (rows_of(x), array_of(weight), array_of(bias))
        y, context.mean, context.rstd = x.ops.layernorm(*given, eps=attributes["eps"])
        context.save(x, weight)
        return tensor_of(y, x.ops, x.shape)

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        x, weight = context.saved
        given = (rows_of(x), array_of(weight), context.mean, context.rstd, rows_of(gradient), None, None)
        d_x, d_weight, d_bias = x.ops.layernorm_backward(*given, beta=0.0)
        return tensor_of(d_x, x.ops, x.shape), tensor_of(d_weight, x.ops), tensor_of(d_bias, x.ops)


class SwiGLU(Function):
    """silu(gate) * up."""

    @staticmethod
    def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
        gate, up = inputs
        context.save(gate, up)
        return tensor_of(gate.ops.swiglu(array_of(gate, -1), array_of(up, -1)), gate.ops, gate.shape)

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        gate, up = context.saved
        found = gate.ops.swiglu_backward(array_of(gate, -1), array_of(up, -1), array_of(gradient, -1))
        return tuple(tensor_of(one, gate.ops, gate.shape) for one in found)


class Shown(Function):
    """x where visible is 1, and 0 where it is 0, whatever x is there: NaN too. visible: broadcasts to x's shape."""

    @staticmethod
    def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
        (x,), context.visible = inputs, attributes["visible"]
        shown: Tensor = context.visible.zip("relu_backward", x)
        return shown

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        return (context.visible.zip("relu_backward", gradient),)


class Dropout(Function):
    """x / (1 - rate) where an element is kept, 0 elsewhere; philox: the key and the first block of the mask's words."""

    @staticmethod
    def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
        (x,) = inputs
        context.told = {"philox": attributes["philox"], "rate": attributes["rate"]}
        return tensor_of(x.ops.dropout(array_of(x, -1), **context.told), x.ops, x.shape)

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        ops = gradient.ops
        return (tensor_of(ops.dropout_backward(array_of(gradient, -1), **context.told), ops, gradient.shape),)


class CrossEntropy(Function):
    """The mean of -log softmax(logits)[target] over the targets that are not negative, shape ().

    logits: (rows, classes), targets: int32 (rows,).
    """

    @staticmethod
    def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
        (logits,), targets = inputs, np.array(attributes["targets"], np.int32)
        loss, context.log_probs = logits.ops.cross_entropy_forward(array_of(logits), targets)
        context.targets, context.ops = targets, logits.ops
        return tensor_of(loss, logits.ops, ())

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        share = 1.0 / max(1, int((context.targets >= 0).sum()))
        is_plain = isinstance(gradient.storage.array, np.ndarray)  # which saves a pass over all logits
        scale = gradient.item() * share if is_plain else share
        d_logits = context.ops.cross_entropy_backward(context.log_probs, context.targets, scale=scale)
        found = tensor_of(d_logits, context.ops)
        return (found if is_plain else found * gradient,)
