"""Softmax over the last axis, and the router's softmax followed by the k largest."""

from __future__ import annotations

import numpy as np

from reference.arrays import Array, check, check_indices, check_same_shape, descending, ieee

from .blocks import by_rows


@ieee
def softmax(input: Array) -> Array:
    """exp(x - max) / sum, row-wise. input: (rows, cols)."""
    return by_rows(_softmax, input)


def _softmax(x: Array) -> Array:
    exponentials = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return exponentials / np.sum(exponentials, axis=-1, keepdims=True)


@ieee
def softmax_backward(output: Array, d_output: Array) -> Array:
    """y * (d_output - sum(y * d_output)), row-wise, y = output: (rows, cols)."""
    check_same_shape("softmax_backward", output=output, d_output=d_output)
    return by_rows(_softmax_backward, output, d_output)


def _softmax_backward(y: Array, d_output: Array) -> Array:
    return y * (d_output - np.sum(y * d_output, axis=-1, keepdims=True))


@ieee
def softmax_topk(input: Array, k: int) -> tuple[Array, Array]:
    """The k largest probabilities of each row, renormalised, and their columns.

    input: (rows, cols). Returns weights and int32 indices: (rows, k), descending, equal ones by lower column, NaN as
    the largest. Raises ValueError where k is not in 1 ... cols.
    """
    check(1 <= k <= input.shape[-1], "softmax_topk", "k", f"1 <= k <= {input.shape[-1]} columns", k)
    probabilities = _softmax(input)
    indices = descending(probabilities)[..., :k]
    chosen = np.take_along_axis(probabilities, indices, axis=-1)
    return chosen / np.sum(chosen, axis=-1, keepdims=True), indices.astype(np.int32)


@ieee
def softmax_topk_backward(weights: Array, indices: Array, d_weights: Array, cols: int) -> Array:
    """Through the renormalisation: a softmax over the k chosen columns; 0 in the others.

    weights, indices, d_weights: (rows, k). Returns d_input: (rows, cols).
    """
    check_same_shape("softmax_topk_backward", weights=weights, indices=indices, d_weights=d_weights)
    check_indices("softmax_topk_backward", "indices", indices, cols)
    rows, k = indices.shape
    slot = np.full((rows, cols), k)  # which of the k a column is; k, the column of zeros, for none
    np.put_along_axis(slot, indices, np.arange(k)[None, :], axis=-1)
    chosen = _softmax_backward(weights, d_weights)
    return np.take_along_axis(np.concatenate([chosen, np.zeros_like(chosen[:, :1])], axis=-1), slot, axis=-1)
