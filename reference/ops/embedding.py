"""Gathering rows of an embedding table, and its gradient."""

from __future__ import annotations

import numpy as np

from reference.arrays import Array, check, check_indices, ieee, in_dtype_of


@ieee
def embedding(weight: Array, indices: Array) -> Array:
    """output[i] = weight[indices[i]]. weight: (vocab_size, embedding_dim), indices: (num_indices,)."""
    check_indices("embedding", "indices", indices, len(weight))
    return np.take(weight, indices, axis=0)


@ieee
def scatter_add(grad_output: Array, indices: Array, grad_weight: Array) -> Array:
    """grad_weight with grad_output[i] added to its row indices[i]; repeated indices add up, negative ones are skipped.

    grad_output: (num_indices, embedding_dim), indices: (num_indices,), grad_weight: (vocab_size, embedding_dim).
    """
    rows = grad_output.shape[:1]
    check(indices.shape == rows, "scatter_add", "indices", f"one for each row of grad_output, {rows}", indices.shape)
    width = f"rows as long as those of grad_output, {grad_output.shape[1:]}"
    check(grad_weight.shape[1:] == grad_output.shape[1:], "scatter_add", "grad_weight", width, grad_weight.shape)
    check_indices("scatter_add", "indices", indices, len(grad_weight), negative=True)
    grad_weight = in_dtype_of(grad_weight, grad_output)
    order = np.argsort(indices, kind="stable")
    order = order[np.count_nonzero(indices < 0) :]
    if order.size == 0:
        return grad_weight + 0.0
    rows, starts = np.unique(indices[order], return_index=True)
    sums = np.add.reduceat(np.take(grad_output, order, axis=0), starts, axis=0)
    slot = np.full(len(grad_weight), len(rows))  # which sum a row receives; the row of zeros for none
    slot[rows] = np.arange(len(rows))
    return grad_weight + np.take(np.concatenate([sums, np.zeros_like(sums[:1])]), slot, axis=0)
