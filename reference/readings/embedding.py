"""Wrong readings of the embedding and of its gradient."""

from __future__ import annotations

import numpy as np

from reference.ops import embedding as ops
from reference.ops._arrays import Array
from reference.readings.reading import Given, Reading, as_stored, fed, giving


def _assigned(grad_output: Array, indices: Array, grad_weight: Array) -> Array:
    """The last of repeated indices overwrites the others and what was there."""
    result = grad_weight.copy()
    for index, row in zip(indices.tolist(), grad_output, strict=True):
        if index >= 0:
            result[index] = row
    return result


def _last_added(grad_output: Array, indices: Array, grad_weight: Array) -> Array:
    """grad_weight[indices] += grad_output as NumPy has it: of repeated indices only the last counts."""
    kept = indices >= 0
    result = grad_weight.copy()
    result[indices[kept]] += grad_output[kept]
    return result


def _averaged(grad_output: Array, indices: Array, grad_weight: Array) -> Array:
    counts = np.bincount(indices[indices >= 0], minlength=len(grad_weight))
    share = np.asarray(1.0 / np.maximum(counts, 1)[indices], grad_output.dtype)
    return ops.scatter_add(grad_output * share[:, None], indices, grad_weight)


def _columns(g: Given) -> Array:
    """The table stored by columns."""
    vocab_size, width = g["weight"].shape
    return as_stored(g["weight"], width, vocab_size).T


READINGS = (
    Reading(
        "embedding",
        "scaled by the root of the width",
        "Another model multiplies the rows by sqrt(embedding_dim).",
        giving(ops.embedding, lambda r, g: r * float(r.shape[1] ** 0.5)),
    ),
    Reading(
        "embedding",
        "indices from 1",
        "The row before the one asked for is read.",
        fed(ops.embedding, indices=lambda g: np.maximum(g["indices"] - 1, 0)),
    ),
    Reading(
        "embedding",
        "table stored by columns",
        "The table's memory is taken as that of its transpose.",
        fed(ops.embedding, weight=_columns),
    ),
    Reading("scatter_add", "assigned", "Rows overwrite what was accumulated.", _assigned),
    Reading("scatter_add", "last of repeated indices", "Threads race, and one of them wins.", _last_added),
    Reading("scatter_add", "averaged", "Repeated indices share one row's weight.", _averaged),
    Reading(
        "scatter_add",
        "negative indices wrap",
        "-1 means the last row, as in Python.",
        fed(
            ops.scatter_add,
            indices=lambda g: np.where(g["indices"] < 0, g["indices"] % len(g["grad_weight"]), g["indices"]),
        ),
    ),
    Reading(
        "scatter_add",
        "grad_weight cleared",
        "The gradient is computed anew, not accumulated.",
        fed(ops.scatter_add, grad_weight=lambda g: np.zeros_like(g["grad_weight"])),
    ),
)
