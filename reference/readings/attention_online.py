"""Wrong readings of the online softmax, in which keys come tile by tile and each tile may bring a larger maximum."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference.arrays import Array
from reference.ops import attention as ops

from .attention import by_heads, causal, scores_of
from .reading import Given, Reading, giving
from .softmax import FROM_0, largest_from_0


def _filled(g: Given) -> tuple[Given, Array, Array]:
    """The call with what is seen of the cache alone, its masked scores, and the KV head of each query head."""
    seen = int(g.get("kv_len", g["K"].shape[1]))
    given = {**g, "K": g["K"][:, :seen], "V": g["V"][:, :seen]}
    return given, *scores_of(given, causal)


def _weighed(given: Given, scores: Array, heads: Array, most: Array, total: Array) -> tuple[Array, Array]:
    """Output and lse by this maximum and this sum of each row."""
    weights = np.exp(scores - most) / total
    return by_heads(weights @ by_heads(given["V"][:, :, heads])), (most + np.log(total))[..., 0]


def _attend(g: Given, tile: int) -> tuple[Array, Array]:
    """The sums of tiles added up as they are, each under the maximum of the keys so far."""
    given, scores, heads = _filled(g)
    most = np.max(scores[..., :tile], axis=-1, keepdims=True)
    total = np.zeros_like(most)
    for first in range(0, scores.shape[-1], tile):
        some = scores[..., first : first + tile]
        most = np.maximum(most, np.max(some, axis=-1, keepdims=True))
        total = total + np.sum(np.exp(some - most), axis=-1, keepdims=True)
    return _weighed(given, scores, heads, most, total)


def _attend_from_0(g: Given) -> tuple[Array, Array]:
    """The maximum so far is 0 before the first tile."""
    given, scores, heads = _filled(g)
    most = largest_from_0(scores)
    return _weighed(given, scores, heads, most, np.sum(np.exp(scores - most), axis=-1, keepdims=True))


def _flash(tile: int) -> Any:
    return giving(ops.flash_attention, lambda _, g: _attend(g, tile)[0])


def _forward(tile: int) -> Any:
    return giving(ops.attention_forward, lambda _, g: _attend(g, tile))


READINGS = (
    *(
        Reading(
            operation,
            f"sum not rescaled from one tile of {tile} keys to the next",
            "What was summed so far stays under the maximum of its time.",
            function(tile),
        )
        for operation, function in (("flash_attention", _flash), ("attention_forward", _forward))
        for tile in (32, 64)
    ),
    Reading("flash_attention", *FROM_0, giving(ops.flash_attention, lambda _, g: _attend_from_0(g)[0])),
    Reading("attention_forward", *FROM_0, giving(ops.attention_forward, lambda _, g: _attend_from_0(g))),
)
