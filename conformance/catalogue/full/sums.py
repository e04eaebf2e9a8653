"""The reference once more, for operations that sum along an axis of which only a few members are drawn.

What each function computes is what the reference function of the same name does; each term of a sum along such an axis
counts as often as it stands there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

import reference
from conformance.limits.noise.counted import counted_matmul, counted_sum
from reference.arrays import accumulate

from .call import Placed

Array = Any
CarriedOut = Callable[..., Any]


def rmsnorm_backward(places: Placed) -> CarriedOut:
    """d_weight sums over rows."""
    rows = places["rows"]

    def function(
        input: Array, weight: Array, d_output: Array, d_weight: Array, eps: float, beta: float
    ) -> tuple[Array, Array]:
        d_input, _ = reference.rmsnorm_backward(input, weight, d_output, None, eps, 0.0)
        r = 1.0 / np.sqrt(np.mean(input * input, axis=-1, keepdims=True) + eps)
        return d_input, accumulate(counted_sum(d_output * (input * r), rows.member, rows.factor), d_weight, beta)

    return function


def rmsnorm_residual_backward(places: Placed) -> CarriedOut:
    """d_weight sums over rows."""
    through = rmsnorm_backward(places)

    def function(
        residual_out: Array,
        weight: Array,
        d_output: Array,
        d_residual_out: Array,
        d_weight: Array,
        eps: float,
        beta: float,
    ) -> tuple[Array, Array]:
        d_input, d_weight = through(residual_out, weight, d_output, d_weight, eps, beta)
        return d_residual_out + d_input, d_weight

    return function


def layernorm_backward(places: Placed) -> CarriedOut:
    """d_weight and d_bias sum over rows."""
    rows = places["rows"]

    def function(
        input: Array,
        weight: Array,
        mean: Array,
        rstd: Array,
        d_output: Array,
        d_weight: Array,
        d_bias: Array,
        beta: float,
    ) -> tuple[Array, Array, Array]:
        d_input, _, _ = reference.layernorm_backward(input, weight, mean, rstd, d_output, None, None, 0.0)
        h = (input - mean[:, None]) * rstd[:, None]
        sums = [counted_sum(terms, rows.member, rows.factor) for terms in (d_output * h, d_output)]
        return d_input, accumulate(sums[0], d_weight, beta), accumulate(sums[1], d_bias, beta)

    return function


def cross_entropy_forward(places: Placed) -> CarriedOut:
    """The loss is a mean over the rows with a target."""
    rows = places["batch_seq"].member

    def function(logits: Array, targets: Array) -> tuple[Array, Array]:
        _, log_probs = reference.cross_entropy_forward(logits, targets)
        return _mean_loss(log_probs, targets, rows), log_probs

    return function


def fused_cross_entropy(places: Placed) -> CarriedOut:
    """The loss is a mean over the rows with a target; gradients and log-sum-exps are each row's own."""
    rows = places["batch_seq"].member

    def function(logits: Array, targets: Array, scale: float) -> tuple[Array, Array, Array]:
        d_logits, _, lse = reference.fused_cross_entropy(logits, targets, scale)
        return d_logits, _mean_loss(logits - lse[:, None], targets, rows), lse

    return function


def _mean_loss(log_probs: Array, targets: Array, rows: Array) -> Array:
    counted = rows[targets[rows] >= 0]
    losses = -log_probs[np.arange(len(targets)), np.maximum(targets, 0)]
    return (counted_sum(losses, counted) / float(counted.size)).reshape(1)


def multi_sum_squares(places: Placed) -> CarriedOut:
    """A sum over every element of every array."""

    def function(inputs: list[Array]) -> Array:
        sums = [_squares(one, places[f"sizes[{i}]"].member) for i, one in enumerate(inputs)]
        return np.sum(np.concatenate(sums), keepdims=True)

    return function


def multi_nonfinite(places: Placed) -> CarriedOut:
    """A count over every element of every array."""

    def function(inputs: list[Array]) -> Array:
        found = sum(places[f"sizes[{i}]"].counts[~np.isfinite(one)].sum() for i, one in enumerate(inputs))
        return np.array([found], np.int32)

    return function


def multi_sum_squares_nonfinite(places: Placed) -> CarriedOut:
    """A sum and a count over every element of every array."""
    squares, nonfinite = multi_sum_squares(places), multi_nonfinite(places)
    return lambda inputs: (squares(inputs), nonfinite(inputs))


def grad_clip(places: Placed) -> CarriedOut:
    """The norm is that of every element."""
    member = places["size"].member

    def function(grad: Array, clip_norm: float) -> tuple[Array, Array]:
        total_norm, factor = reference.clip_scale(_squares(grad, member), clip_norm)
        return grad * factor, total_norm

    return function


def grouped_gemm(places: Placed) -> CarriedOut:
    """Each expert's product sums over columns."""

    def function(A: Array, B: Array, offsets: Array) -> Array:
        return _by_expert(A, B.transpose(0, 2, 1), offsets, places["K"].counts)

    return function


def grouped_gemm_nn(places: Placed) -> CarriedOut:
    """Each expert's product sums over columns of A and rows of B."""

    def function(A: Array, B: Array, offsets: Array) -> Array:
        return _by_expert(A, B, offsets, places["K"].counts)

    return function


GROUPED = {"grouped_gemm": grouped_gemm, "grouped_gemm_nn": grouped_gemm_nn}


def _by_expert(A: Array, B: Array, offsets: Array, counts: Array) -> Array:
    owned = enumerate(itertools.pairwise(offsets))
    return np.concatenate([counted_matmul(A[start:stop], B[e], counts) for e, (start, stop) in owned])


def _squares(x: Array, member: Array) -> Array:
    return counted_sum(x * x, member).reshape(1)
