"""Wrong readings of softmax and of the router's choice."""

from __future__ import annotations

import numpy as np

from reference.arrays import Array
from reference.ops import softmax as ops

from .reading import Reading, giving


def _early_maximum(columns: int, input: Array) -> Array:
    """Softmax shifted by the maximum of the first columns only: it overflows where the true one lies beyond."""
    exponentials = np.exp(input - np.max(input[:, :columns], axis=-1, keepdims=True))
    return exponentials / np.sum(exponentials, axis=-1, keepdims=True)


FROM_0 = "maximum that begins at 0", "The fold of the maximum begins at 0."


def largest_from_0(input: Array) -> Array:
    """The largest number of each row, or 0 where that is larger, as one column."""
    return np.maximum(np.max(input, axis=-1, keepdims=True), input.dtype.type(0))


def maximum_from_0(input: Array) -> Array:
    """Softmax shifted by the maximum of the row and 0: nothing is left of a row far below."""
    exponentials = np.exp(input - largest_from_0(input))
    return exponentials / np.sum(exponentials, axis=-1, keepdims=True)


def of_the_weighted(weights: Array, gradient: Array) -> Array:
    """The sum of each row of weights times gradient, where the weight is not 0."""
    return np.sum(np.where(weights == 0, weights, weights * gradient), axis=-1, keepdims=True)


def _topk_by(order: Array, input: Array, k: int) -> tuple[Array, Array]:
    """The router's answer, had it ranked the columns in this order."""
    chosen = np.take_along_axis(ops.softmax(input), order[:, :k], axis=-1)
    return chosen / np.sum(chosen, axis=-1, keepdims=True), order[:, :k].astype(np.int32)


def _higher_index_first(input: Array, k: int) -> tuple[Array, Array]:
    columns = input.shape[-1]
    order = columns - 1 - np.argsort(-input[:, ::-1], axis=-1, kind="stable")
    return _topk_by(order, input, k)


def _swap_order(input: Array, k: int) -> tuple[Array, Array]:
    """Selection by exchange: what stood in front moves to where the chosen one was, and so behind its equals."""
    order = np.tile(np.arange(input.shape[-1]), (len(input), 1))
    for row, values in zip(order, input, strict=True):
        for place in range(k):
            best = place + int(np.argmax(values[row[place:]]))
            row[[place, best]] = row[[best, place]]
    return _topk_by(order, input, k)


def _spread(chosen: Array, indices: Array, cols: int) -> Array:
    """The chosen columns' values in their places, 0 in the others."""
    slot = np.full((len(chosen), cols), indices.shape[1])
    np.put_along_axis(slot, indices, np.arange(indices.shape[1])[None, :], axis=-1)
    return np.take_along_axis(np.concatenate([chosen, np.zeros_like(chosen[:, :1])], axis=-1), slot, axis=-1)


def _into_first_columns(weights: Array, indices: Array, d_weights: Array, cols: int) -> Array:
    first = np.broadcast_to(np.arange(indices.shape[1], dtype=indices.dtype), indices.shape)
    return ops.softmax_topk_backward(weights, first, d_weights, cols)


READINGS = (
    Reading("softmax", *FROM_0, maximum_from_0),
    Reading(
        "softmax",
        "maximum of the first 32 columns",
        "One warp's maximum is taken for the row's.",
        lambda input: _early_maximum(32, input),
    ),
    Reading(
        "softmax",
        "maximum of the first 1024 columns",
        "One block's maximum is taken for the row's.",
        lambda input: _early_maximum(1024, input),
    ),
    Reading(
        "softmax",
        "no maximum",
        "The exponentials are summed as they are, and overflow.",
        lambda input: np.exp(input) / np.sum(np.exp(input), axis=-1, keepdims=True),
    ),
    Reading("softmax", "column-wise", "The other axis is normalised.", lambda input: ops.softmax(input.T).T),
    Reading(
        "softmax", "logarithm", "The logarithm of the softmax is returned.", lambda input: np.log(ops.softmax(input))
    ),
    Reading(
        "softmax",
        "power of two",
        "exp2 is used without the factor log2(e).",
        lambda input: ops.softmax(input * float(np.log(2.0))),
    ),
    Reading(
        "softmax_backward",
        "sum missing",
        "The rows' common term is left out.",
        lambda output, d_output: output * d_output,
    ),
    Reading(
        "softmax_backward",
        "diagonal alone",
        "y * (1 - y) is the derivative of one entry by itself.",
        lambda output, d_output: output * (1.0 - output) * d_output,
    ),
    Reading(
        "softmax_backward",
        "unweighted sum",
        "d_output is summed without the probabilities.",
        lambda output, d_output: output * (d_output - np.sum(d_output, axis=-1, keepdims=True)),
    ),
    Reading(
        "softmax_backward",
        "mean in place of the sum",
        "The common term is averaged over the columns.",
        lambda output, d_output: output * (d_output - np.mean(output * d_output, axis=-1, keepdims=True)),
    ),
    Reading(
        "softmax_backward",
        "probabilities of 0 left out of the sum",
        "0 * infinity is lost.",
        lambda output, d_output: output * (d_output - of_the_weighted(output, d_output)),
    ),
    Reading(
        "softmax_topk",
        "not renormalised",
        "The chosen probabilities are returned as they are.",
        giving(ops.softmax_topk, lambda r, g: (np.take_along_axis(ops.softmax(g["input"]), r[1], axis=-1), r[1])),
    ),
    Reading("softmax_topk", "ties by higher index", "A later equal one replaces the earlier.", _higher_index_first),
    Reading("softmax_topk", "ties in swap order", "The choice exchanges entries in place.", _swap_order),
    Reading(
        "softmax_topk",
        "ascending order",
        "The chosen are returned smallest first.",
        giving(ops.softmax_topk, lambda r, g: (r[0][:, ::-1], r[1][:, ::-1])),
    ),
    Reading(
        "softmax_topk",
        "softmax of the chosen probabilities",
        "A second softmax is applied in place of the division.",
        giving(
            ops.softmax_topk,
            lambda r, g: (ops.softmax(np.take_along_axis(ops.softmax(g["input"]), r[1], axis=-1)), r[1]),
        ),
    ),
    Reading(
        "softmax_topk",
        "sigmoid scores",
        "Every expert has a score of its own, as in other routers.",
        giving(
            ops.softmax_topk,
            lambda r, g: (ops.softmax(-np.log(1.0 + np.exp(-np.take_along_axis(g["input"], r[1], axis=-1)))), r[1]),
        ),
    ),
    Reading(
        "softmax_topk",
        "sigmoid scores, not renormalised",
        "Every expert has a score of its own, which is its weight.",
        giving(
            ops.softmax_topk,
            lambda r, g: (1.0 / (1.0 + np.exp(-np.take_along_axis(g["input"], r[1], axis=-1))), r[1]),
        ),
    ),
    Reading(
        "softmax_topk_backward",
        "renormalisation not differentiated",
        "The sum of the chosen is taken as a constant.",
        lambda weights, indices, d_weights, cols: _spread(weights * d_weights, indices, cols),
    ),
    Reading(
        "softmax_topk_backward",
        "diagonal alone",
        "w * (1 - w) is the derivative of one weight by itself.",
        lambda weights, indices, d_weights, cols: _spread(weights * (1.0 - weights) * d_weights, indices, cols),
    ),
    Reading(
        "softmax_topk_backward",
        "indices ignored",
        "The gradient goes to the first k columns.",
        _into_first_columns,
    ),
)
