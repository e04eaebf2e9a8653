"""Wrong readings of attention's gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reference.arrays import Array
from reference.ops import attention as ops

from .attention import MODULO, NO_MASK, Visible, by_heads, causal, modulo, scores_of, unmasked
from .reading import Given, Reading, giving


def _gradients(visible: Visible, d_scores: Callable[[Array, Array, Array], Array]) -> Callable[..., Any]:
    """attention_backward with another mask or another d_scores(P, d_P, D)."""

    def change(_: Any, g: Given) -> tuple[Array, ...]:
        scores, heads = scores_of(g, visible)
        Q, K, V, d_output = (by_heads(x) for x in (g["Q"], g["K"][:, :, heads], g["V"][:, :, heads], g["d_output"]))
        P = np.exp(scores - g["lse"][..., None])
        D = np.sum(d_output * by_heads(g["output"]), axis=-1, keepdims=True)
        d_S = d_scores(P, d_output @ np.swapaxes(V, 2, 3), D) * g["scale"]
        d_K, d_V = np.swapaxes(d_S, 2, 3) @ Q, np.swapaxes(P, 2, 3) @ d_output
        return by_heads(d_S @ K), _over_groups(d_K, g), _over_groups(d_V, g)

    return giving(ops.attention_backward, change)


def _over_groups(x: Array, g: Given) -> Array:
    """The sum over the query heads of each KV head."""
    batch, heads, length, width = x.shape
    groups = g["K"].shape[2]
    return by_heads(np.sum(x.reshape(batch, groups, heads // groups, length, width), axis=2))


def _backward_modulo(
    Q: Array, K: Array, V: Array, output: Array, lse: Array, d_output: Array, scale: float
) -> tuple[Array, Array, Array]:
    o, back = modulo(Q, K)
    d_Q, d_K, d_V = ops.attention_backward(Q[:, :, o], K, V, output[:, :, o], lse[:, o], d_output[:, :, o], scale)
    return d_Q[:, :, back], d_K, d_V


def _one_of_each_group(place: int) -> Callable[..., Any]:
    """attention_backward with the d_K and d_V of one head of each group, counted from its first or its last."""

    def change(results: Any, g: Given) -> tuple[Array, Array, Array]:
        group = g["Q"].shape[2] // g["K"].shape[2]
        ones = slice(place % group, None, group)
        given = {name: g[name][:, :, ones] for name in ("Q", "output", "d_output")}
        _, d_K, d_V = ops.attention_backward(**(g | given | {"lse": g["lse"][:, ones]}))
        return results[0], d_K, d_V

    return giving(ops.attention_backward, change)


READINGS = (
    Reading("attention_backward", "h modulo n_kv_heads", MODULO, _backward_modulo),
    Reading(
        "attention_backward",
        "D missing",
        "The softmax's common term is left out.",
        _gradients(causal, lambda P, d_P, D: P * d_P),
    ),
    Reading(
        "attention_backward",
        "no causal mask",
        NO_MASK,
        _gradients(unmasked, lambda P, d_P, D: P * (d_P - D)),
    ),
    Reading(
        "attention_backward",
        "first head of each group",
        "d_K and d_V are those of one head instead of the sum over the group.",
        _one_of_each_group(0),
    ),
    Reading(
        "attention_backward",
        "last head of each group",
        "Every head assigns its d_K and d_V; the last one's stay.",
        _one_of_each_group(-1),
    ),
    Reading(
        "attention_backward",
        "group averaged",
        "d_K and d_V are averaged over the heads of a group.",
        giving(
            ops.attention_backward,
            lambda r, g: (r[0], *(d * (g["K"].shape[2] / g["Q"].shape[2]) for d in r[1:])),
        ),
    ),
    Reading(
        "attention_backward",
        "scale missing in d_Q and d_K",
        "The scores' scale is not differentiated.",
        giving(ops.attention_backward, lambda r, g: (r[0] / g["scale"], r[1] / g["scale"], r[2])),
    ),
    Reading(
        "attention_backward",
        "d_K and d_V exchanged",
        "They are written to each other's place.",
        giving(ops.attention_backward, lambda r, g: (r[0], r[2], r[1])),
    ),
)
