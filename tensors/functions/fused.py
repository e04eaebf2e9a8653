"""The same functions, each one operation of the header where it has one, and so the gradients."""

from __future__ import annotations

from typing import Any

from tensors.tape import Variable, apply
from tensors.tensor import Tensor

from .attention import Attention, AttentionSoftmax, Rope
from .composed import Chosen, Composed, checked_scores
from .experts import AuxiliaryLoss, Combine, Dispatch, GroupedLinear, Route
from .rows import CrossEntropy, LayerNorm, Linear, RMSNorm, Softmax, SwiGLU


class Fused(Composed):
    """What Composed has, under its names; attention that is not causal, or has a mask, is made of products and
    attention_softmax."""

    def linear(self, x: Variable, weight: Variable) -> Variable:
        return apply(Linear, x, weight)

    def softmax(self, x: Variable) -> Variable:
        return apply(Softmax, x)

    def rmsnorm(self, x: Variable, weight: Variable, eps: float) -> Variable:
        return apply(RMSNorm, x, weight, eps=eps)

    def layernorm(self, x: Variable, weight: Variable, bias: Variable, eps: float) -> Variable:
        return apply(LayerNorm, x, weight, bias, eps=eps)

    def swiglu(self, gate: Variable, up: Variable) -> Variable:
        return apply(SwiGLU, gate, up)

    def rope(self, x: Variable, angles: Any) -> Variable:
        return apply(Rope, x, angles=angles)

    def attention_softmax(
        self, scores: Variable, scale: float, causal: bool = True, mask: Tensor | None = None, offset: int = 0
    ) -> Variable:
        checked = checked_scores(scores, mask)
        return apply(AttentionSoftmax, checked, scale=scale, causal=causal, mask=mask, offset=offset)

    def attention(
        self, q: Variable, k: Variable, v: Variable, scale: float, causal: bool = True, mask: Tensor | None = None
    ) -> Variable:
        if not causal or mask is not None:
            return super().attention(q, k, v, scale, causal, mask)
        return apply(Attention, q, k, v, scale=scale)

    def cross_entropy(self, logits: Variable, targets: Any) -> Variable:
        return apply(CrossEntropy, logits, targets=targets)

    def route(self, logits: Variable, chosen: Chosen) -> Variable:
        return apply(Route, logits, chosen=chosen)

    def auxiliary_loss(self, logits: Variable, chosen: Chosen, alpha: float) -> Variable:
        return apply(AuxiliaryLoss, self.softmax(logits), indices=chosen[1], alpha=alpha)

    def experts(
        self, x: Variable, weights: Variable, chosen: Chosen, gate: Variable, up: Variable, down: Variable
    ) -> Variable:
        offsets, position = x.value.ops.expert_sort(chosen[1], n_experts=gate.shape[0])
        rows = apply(Dispatch, x, position=position)
        projected = (apply(GroupedLinear, rows, weight, offsets=offsets) for weight in (gate, up))
        output = apply(GroupedLinear, self.swiglu(*projected), down, offsets=offsets)
        return apply(Combine, output, weights, position=position)
