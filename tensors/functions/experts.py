"""Routing to experts, and their products, by the header's operations; rows = tokens * top_k, sorted by expert."""

from __future__ import annotations

from typing import Any

from tensors.tape import Context, Function, Gradients
from tensors.tensor import Tensor

from .arrays import array_of, tensor_of


class Route(Function):
    """The weights of the experts chosen: the softmax of the chosen logits. logits: (tokens, experts).

    chosen: (weights, indices), what softmax_topk gives of these logits.
    """

    @staticmethod
    def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
        (logits,), (weights, context.indices) = inputs, attributes["chosen"]
        context.weights, context.experts = weights, logits.shape[1]
        return tensor_of(weights, logits.ops).copy()  # which may be written to

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        given = (context.weights, context.indices, array_of(gradient))
        return (tensor_of(gradient.ops.softmax_topk_backward(*given, cols=context.experts), gradient.ops),)


class AuxiliaryLoss(Function):
    """alpha * experts * sum over experts of the tokens' share times their mean probability, shape ().

    Fedus et al. 2021, equations 4 to 6; the shares are constants. probs: (tokens, experts), indices: (tokens, top_k).
    """

    @staticmethod
    def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
        (probs,), alpha = inputs, attributes["alpha"]
        loss, counts, _ = probs.ops.aux_loss_forward(array_of(probs), attributes["indices"], alpha=alpha)
        context.counts, context.told = counts, {"batch_seq": probs.shape[0], "alpha": alpha}
        return tensor_of(loss, probs.ops, ())

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        ops = gradient.ops
        return (tensor_of(ops.aux_loss_backward(context.counts, **context.told, scale=1.0), ops) * gradient,)


class Dispatch(Function):
    """A row for each choice of each token. x: (tokens, hidden), position: (tokens, top_k)."""

    @staticmethod
    def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
        (x,), context.position = inputs, attributes["position"]
        return tensor_of(x.ops.expert_dispatch(array_of(x), context.position), x.ops)

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        ops = gradient.ops
        return (tensor_of(ops.expert_dispatch_backward(array_of(gradient), context.position), ops),)


class GroupedLinear(Function):
    """Each expert's rows times its own matrix, transposed. x: (rows, in), weight: (experts, out, in)."""

    @staticmethod
    def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
        (x, weight), context.offsets = inputs, attributes["offsets"]
        context.save(x, weight)
        return tensor_of(x.ops.grouped_gemm(array_of(x), array_of(weight), context.offsets), x.ops)

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        x, weight = map(array_of, context.saved)
        ops, d_y, offsets = gradient.ops, array_of(gradient), context.offsets
        d_x = d_weight = None
        if context.needs[0]:
            d_x = tensor_of(ops.grouped_gemm_nn(d_y, weight, offsets), ops)
        if context.needs[1]:
            d_weight = tensor_of(ops.grouped_gemm_tn(d_y, x, offsets, None, beta=0.0), ops)
        return d_x, d_weight


class Combine(Function):
    """The sum over a token's rows, each times its weight. x: (rows, hidden), weights: (tokens, top_k)."""

    @staticmethod
    def forward(context: Context, *inputs: Tensor, **attributes: Any) -> Tensor:
        (x, weights), context.position = inputs, attributes["position"]
        context.save(x, weights)
        return tensor_of(x.ops.expert_combine(*map(array_of, inputs), context.position), x.ops)

    @staticmethod
    def backward(context: Context, gradient: Tensor) -> Gradients:
        ops, saved = gradient.ops, map(array_of, context.saved)
        found = ops.expert_combine_backward(*saved, context.position, array_of(gradient))
        return tuple(tensor_of(one, ops) for one in found)
