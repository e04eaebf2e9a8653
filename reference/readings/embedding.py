"""Wrong readings of the embedding and of its gradient."""

from __future__ import annotations

import numpy as np

from reference.arrays import Array
from reference.ops import embedding as ops

from .reading import Given, Reading, as_stored, fed, giving


def _last_rows(grad_output: Array, indices: Array, grad_weight: Array) -> tuple[Array, Array]:
    """For each row of the table the last row of grad_output that goes there, or zeros, and whether there is one."""
    last = np.full(len(grad_weight), len(indices))
    kept = np.flatnonzero(indices >= 0)
    last[indices[kept]] = kept  # of repeated indices the last one stays
    rows = np.concatenate([grad_output, np.zeros_like(grad_output[:1])])
    return np.take(rows, last, axis=0), (last < len(indices))[:, None]


def _assigned(grad_output: Array, indices: Array, grad_weight: Array) -> Array:
    """The last of repeated indices overwrites the others and what was there."""
    rows, any_row = _last_rows(grad_output, indices, grad_weight)
    return np.where(any_row, rows, grad_weight)


def _last_added(grad_output: Array, indices: Array, grad_weight: Array) -> Array:
    """grad_weight[indices] += grad_output as NumPy has it: of repeated indices only the last counts."""
    rows, _ = _last_rows(grad_output, indices, grad_weight)
    return grad_weight + rows


def _first_added(grad_output: Array, indices: Array, grad_weight: Array) -> Array:
    """Of repeated indices only the first counts: what comes last in reverse."""
    return _last_added(grad_output[::-1], indices[::-1], grad_weight)


def _averaged(grad_output: Array, indices: Array, grad_weight: Array) -> Array:
    counts = np.bincount(indices[indices >= 0], minlength=len(grad_weight))
    share = np.asarray(1.0 / np.maximum(counts, 1)[np.maximum(indices, 0)], grad_output.dtype)
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
    Reading("scatter_add", "first of repeated indices", "Of equal indices one is taken.", _first_added),
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
