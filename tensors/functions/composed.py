"""What networks are made of, written in strided operations: gradients are the tape's own.

Rows are taken by `embedding` and added up by `scatter_add`; the experts' choice, which has no gradient, is
`softmax_topk`'s, angles are `rope_freqs'`, masks `dropout`'s. All else is map, zip, reduce and matmul.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensors.errors import check
from tensors.tape import Variable, apply, concat
from tensors.tensor import Tensor

from .arrays import array_of, tensor_of
from .rows import Dropout, Shown, Take

LOWEST = float(np.finfo(np.float32).min)  # a maximum of nothing but -inf, from which -inf is still infinitely far
Chosen = tuple[Any, Any]  # weights and indices [tokens, top_k], what softmax_topk gives


class Composed:
    """Functions of Variables; x is (..., columns) where nothing else is said, and indices are int32 arrays."""

    def linear(self, x: Variable, weight: Variable) -> Variable:
        """x W^T; weight: (out, columns)."""
        return x @ weight.T

    def take(self, weight: Variable, indices: Any) -> Variable:
        """Rows of weight (rows, columns) by number: (*indices' shape, columns)."""
        return apply(Take, weight, indices=indices)

    def dropout(self, x: Variable, philox: Any, rate: float) -> Variable:
        """x / (1 - rate) where the mask that philox (key, offset) begins keeps an element, 0 elsewhere."""
        return apply(Dropout, x, philox=philox, rate=rate)

    def softmax(self, x: Variable) -> Variable:
        """Along the last axis."""
        powers = self._shifted(x).map("exp")
        return powers / powers.sum(-1, keepdims=True)

    def log_softmax(self, x: Variable) -> Variable:
        """Along the last axis."""
        shifted = self._shifted(x)
        return shifted - shifted.map("exp").sum(-1, keepdims=True).map("log")

    def _shifted(self, x: Variable) -> Variable:
        """x less its largest, which softmax may choose: no gradient goes through it."""
        return x - x.detach().max(-1, keepdims=True)

    def rmsnorm(self, x: Variable, weight: Variable, eps: float) -> Variable:
        """x / sqrt(mean(x^2) + eps) * weight along the last axis."""
        return x * (x.map("square").mean(-1, keepdims=True) + eps).map("rsqrt") * weight

    def layernorm(self, x: Variable, weight: Variable, bias: Variable, eps: float) -> Variable:
        """(x - mean) / sqrt(variance + eps) * weight + bias along the last axis."""
        centred = x - x.mean(-1, keepdims=True)
        return centred * (centred.map("square").mean(-1, keepdims=True) + eps).map("rsqrt") * weight + bias

    def swiglu(self, gate: Variable, up: Variable) -> Variable:
        """silu(gate) * up."""
        return gate.map("silu") * up

    def rope(self, x: Variable, angles: Any) -> Variable:
        """Pairs (2d, 2d + 1) turned: x (batch, seq, heads, head_dim), angles (at least seq, head_dim / 2), an array."""
        seq, pairs = x.shape[1], x.shape[3] // 2
        turn = tensor_of(angles[:seq], x.value.ops).reshape((seq, 1, pairs))
        cosine, sine = turn.map("cos"), turn.map("sin")
        even, odd = x[..., 0::2], x[..., 1::2]
        turned = [even * cosine - odd * sine, even * sine + odd * cosine]
        return concat([one.expand_dims(-1) for one in turned], -1).reshape(x.shape)

    def attention_softmax(
        self, scores: Variable, scale: float, causal: bool = True, mask: Tensor | None = None, offset: int = 0
    ) -> Variable:
        """softmax(scale * scores + mask) of keys up to each query's position, or of all; 0 where a query sees no key.

        scores: (batch, heads, queries, keys); query i stands at position i + offset. mask: (batch, keys), for each key
        what is added: 0, or -inf where nobody reads it. Scores of keys behind a query are not looked at.
        """
        batch, _, queries, keys = checked_scores(scores, mask).shape
        x = scores * scale
        if mask is not None:
            x = x + mask.reshape((batch, 1, 1, keys))
        if causal:
            behind = future(queries, keys, offset, x.value)
            x = apply(Shown, x, visible=behind == 0.0) + behind
        powers = (x - x.detach().reduce("maximum", -1, keepdims=True, start=LOWEST)).map("exp")
        total = powers.sum(-1, keepdims=True)
        return powers / (total + (total.detach() == 0.0))

    def attention(
        self, q: Variable, k: Variable, v: Variable, scale: float, causal: bool = True, mask: Tensor | None = None
    ) -> Variable:
        """softmax(scale * q k^T + mask) v of keys up to each query's position, or of all.

        q: (batch, seq, q_heads, head_dim), k and v: (batch, seq, kv_heads, head_dim); query head h reads KV head
        h * kv_heads / q_heads. mask: (batch, seq), for each key: 0, or -inf where nobody reads it.
        """
        (batch, seq, heads, width), kv = q.shape, k.shape[2]
        check(heads % kv == 0, "attention", f"query heads in a multiple of {kv} KV heads", heads)
        queries = q.reshape((batch, seq, kv, heads // kv, width)).permute_dims((0, 2, 3, 1, 4))
        keys, values = (one.permute_dims((0, 2, 1, 3)).expand_dims(2) for one in (k, v))
        scores = (queries @ keys.mT).reshape((batch, heads, seq, seq))
        weights = self.attention_softmax(scores, scale, causal, mask)
        mixed = weights.reshape((batch, kv, heads // kv, seq, seq)) @ values
        return mixed.permute_dims((0, 3, 1, 2, 4)).contiguous().reshape(q.shape)

    def cross_entropy(self, logits: Variable, targets: Any) -> Variable:
        """The mean of -log softmax(logits)[target] over targets from 0 on: logits (rows, classes), targets (rows,)."""
        _check_places("cross_entropy", logits)
        rows = np.flatnonzero(targets >= 0).astype(np.int32)
        places = rows * np.int32(logits.shape[1]) + targets[rows]
        terms = self.take(self.log_softmax(logits).reshape((logits.size, 1)), places)
        return -terms.sum() / float(max(1, len(rows)))

    def choose(self, logits: Variable, top_k: int) -> Chosen:
        """softmax_topk's (weights, indices) [tokens, top_k] of the router's logits (tokens, experts): no gradient."""
        chosen: Chosen = logits.value.ops.softmax_topk(array_of(logits.value), k=top_k)
        return chosen

    def route(self, logits: Variable, chosen: Chosen) -> Variable:
        """The chosen experts' probabilities, of sum 1: (tokens, top_k)."""
        met = self._picked(self.softmax(logits), chosen[1])
        return met / met.sum(1, keepdims=True)

    def _picked(self, x: Variable, columns: Any) -> Variable:
        """x (rows, columns) at these columns of each row."""
        _check_places("route", x)
        places = np.arange(x.shape[0], dtype=np.int32)[:, None] * np.int32(x.shape[1]) + columns
        return self.take(x.reshape((x.size, 1)), places).squeeze(-1)

    def auxiliary_loss(self, logits: Variable, chosen: Chosen, alpha: float) -> Variable:
        """alpha * experts * sum of each expert's share of tokens times its mean probability, shape ().

        Fedus et al. 2021, equations 4 to 6; the shares are constants.
        """
        tokens, experts = logits.shape
        shares = np.bincount(chosen[1].reshape(-1), minlength=experts) / tokens
        met = Tensor(shares.astype(logits.value.dtype), logits.value.ops)
        return (self.softmax(logits).mean(0) * met).sum() * (alpha * experts)

    def experts(
        self, x: Variable, weights: Variable, chosen: Chosen, gate: Variable, up: Variable, down: Variable
    ) -> Variable:
        """Each token's experts, weighted. x: (tokens, hidden), gate, up: (experts, ffn, hidden), down: turned.

        Every expert's rows are multiplied by its own matrices; one that no token meets has no gradient of its own.
        """
        (tokens, top_k), indices = weights.shape, chosen[1].reshape(-1)
        order = np.argsort(indices, kind="stable").astype(np.int32)
        ends = np.cumsum(np.bincount(indices, minlength=gate.shape[0]))
        rows, parts = self.take(x, order // np.int32(top_k)), []
        for expert, end in enumerate(ends):
            some = rows[(ends[expert - 1] if expert else 0) : end]
            if len(some):
                inner = self.swiglu(self.linear(some, gate[expert]), self.linear(some, up[expert]))
                parts.append(self.linear(inner, down[expert]))
        position = np.empty_like(order)
        position[order] = np.arange(order.size, dtype=np.int32)
        outputs = self.take(concat(parts), position.reshape(tokens, top_k))
        return (outputs * weights.expand_dims(-1)).sum(1)


def checked_scores(scores: Variable, mask: Tensor | None) -> Variable:
    """Scores that a softmax takes with this mask.  Raises TensorError."""
    check(scores.ndim == 4, "attention_softmax", "scores (batch, heads, queries, keys)", scores.shape)
    due, got = (scores.shape[0], scores.shape[3]), None if mask is None else mask.shape
    check(got in (None, due), "attention_softmax", f"a mask of shape {due}", got)
    return scores


def future(queries: int, keys: int, offset: int, like: Tensor) -> Tensor:
    """0 for keys up to a query's position, i + offset, -inf for those behind: (queries, keys)."""
    mask = np.where(np.tri(queries, keys, offset, dtype=bool), 0.0, -math.inf)
    return Tensor(mask.astype(like.dtype), like.ops)


def _check_places(name: str, x: Variable) -> None:
    check(x.size < 2**31, name, "fewer than 2^31 numbers, which int32 places tell apart", x.size)
