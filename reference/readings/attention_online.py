"""Wrong readings of the online softmax, in which keys come tile by tile and each tile may bring a larger maximum."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference.arrays import Array
from reference.ops import attention as ops

from .attention import by_heads, causal, scores_of
from .reading import Given, Reading, giving


def _attend(g: Given, tile: int) -> tuple[Array, Array]:
    """The sums of tiles added up as they are, each under the maximum of the keys so far."""
    seen = int(g.get("kv_len", g["K"].shape[1]))
    given = {**g, "K": g["K"][:, :seen], "V": g["V"][:, :seen]}
    scores, heads = scores_of(given, causal)
    most = np.max(scores[..., :tile], axis=-1, keepdims=True)
    total = np.zeros_like(most)
    for first in range(0, seen, tile):
        some = scores[..., first : first + tile]
        most = np.maximum(most, np.max(some, axis=-1, keepdims=True))
        total = total + np.sum(np.exp(some - most), axis=-1, keepdims=True)
    weights = np.exp(scores - most) / total
    return by_heads(weights @ by_heads(given["V"][:, :, heads])), (most + np.log(total))[..., 0]


def _flash(tile: int) -> Any:
    return giving(ops.flash_attention, lambda _, g: _attend(g, tile)[0])


def _forward(tile: int) -> Any:
    return giving(ops.attention_forward, lambda _, g: _attend(g, tile))


READINGS = tuple(
    Reading(
        operation,
        f"sum not rescaled from one tile of {tile} keys to the next",
        "What was summed so far stays under the maximum of its time.",
        function(tile),
    )
    for operation, function in (("flash_attention", _flash), ("attention_forward", _forward))
    for tile in (32, 64)
)
