"""Wrong readings of attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from reference.arrays import Array
from reference.ops import attention as ops

from .reading import Given, Reading, bfloat16, fed, giving

WITH_SCALE = (ops.attention_scores, ops.flash_attention, ops.attention_forward, ops.attention_backward)

Visible: TypeAlias = Callable[[Array, Array, Given], Array]  # of query position, key position and all arguments


def _kv_len(g: Given) -> int:
    return int(g.get("kv_len", g["K"].shape[1]))


def causal(i: Array, j: Array, g: Given) -> Array:
    return j <= i


def unmasked(i: Array, j: Array, g: Given) -> Array:
    return j < _kv_len(g)


def scores_of(g: Given, visible: Visible) -> tuple[Array, Array]:
    """Masked scores (batch, heads, queries, keys), and the KV head of each query head."""
    Q, K = g["Q"], g["K"]
    heads = np.arange(Q.shape[2]) * K.shape[2] // Q.shape[2]
    scores = by_heads(Q) @ np.swapaxes(by_heads(K[:, :, heads]), 2, 3) * g["scale"]
    positions = np.arange(_kv_len(g) - Q.shape[1], _kv_len(g))[:, None]
    return np.where(visible(positions, np.arange(K.shape[1]), g), scores, scores.dtype.type(-np.inf)), heads


def by_heads(x: Array) -> Array:
    """(batch, length, heads, width) as (batch, heads, length, width), or back."""
    return np.swapaxes(x, 1, 2)


def _attend(g: Given, visible: Visible = causal, held: Callable[[Array], Array] = lambda P: P) -> tuple[Array, Array]:
    """Output and lse; held: what becomes of the exponentials before the second product."""
    scores, heads = scores_of(g, visible)
    maximum = np.max(scores, axis=-1, keepdims=True)
    P = np.exp(scores - maximum)
    total = np.sum(P, axis=-1, keepdims=True)
    return by_heads(held(P) @ by_heads(g["V"][:, :, heads]) / total), (maximum + np.log(total))[..., 0]


def _filled(g: Given) -> Given:
    """With the part of the cache that is filled: behind it anything may stand, and 0 times NaN is NaN."""
    return {**g, "K": g["K"][:, : _kv_len(g)], "V": g["V"][:, : _kv_len(g)]}


def _masked_by(visible: Visible) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """flash_attention and attention_forward with another mask."""
    return (
        giving(ops.flash_attention, lambda _, g: _attend(g, visible)[0]),
        giving(ops.attention_forward, lambda _, g: _attend(_filled(g), visible)),
    )


def modulo(Q: Array, K: Array) -> tuple[Array, Array]:
    """The order of query heads in which h * n_kv_heads / n_q_heads reads KV head h modulo n_kv_heads; its inverse."""
    order = np.argsort(np.arange(Q.shape[2]) % K.shape[2], kind="stable")
    return order, np.argsort(order)


def by_powers_of_two(g: Given) -> Array:
    """The KV head of each query head where h / group is a shift: a group counts as the power of two up to it."""
    n_q_heads, n_kv_heads = g["Q"].shape[2], g["K"].shape[2]
    shared = 1 << ((n_q_heads // n_kv_heads).bit_length() - 1)
    return np.minimum(np.arange(n_q_heads) // shared, n_kv_heads - 1)


def _shifted(operation: Callable[..., Any]) -> Callable[..., Any]:
    """The operation with keys and values of these heads, one for each query head."""
    return fed(operation, **{name: lambda g, name=name: g[name][:, :, by_powers_of_two(g)] for name in ("K", "V")})


def _first_of_its_group(g: Given) -> Array:
    """Q as every query head of a group has it that reads its first head's."""
    group = g["Q"].shape[2] // g["K"].shape[2]
    shared: Array = g["Q"][:, :, np.arange(g["Q"].shape[2]) // group * group]
    return shared


def _weighed_as_the_first(r: Any, g: Given) -> Any:
    """Outputs of the weights of each group's first head, beside a log-sum-exp of each head's own."""
    return ops.attention_forward(**{**g, "Q": _first_of_its_group(g)})[0], r[1]


def _flash_modulo(Q: Array, K: Array, V: Array, scale: float) -> Array:
    order, back = modulo(Q, K)
    return ops.flash_attention(Q[:, :, order], K, V, scale)[:, :, back]


def _forward_modulo(Q: Array, K: Array, V: Array, kv_len: int, scale: float) -> tuple[Array, Array]:
    order, back = modulo(Q, K)
    output, lse = ops.attention_forward(Q[:, :, order], K, V, kv_len, scale)
    return output[:, :, back], lse[:, back]


def _mask_added(Q: Array, K: Array, scale: float) -> Array:
    given: Given = {"Q": Q, "K": K[:, :, None], "scale": scale}
    scores, _ = scores_of(given, unmasked)
    return scores + np.triu(np.full(scores.shape[-2:], -np.inf, scores.dtype), 1)


def _side_by_side(input: Array, cache: Array, position: int) -> Array:
    flat, start = cache.reshape(-1), position * int(np.prod(cache.shape[2:]))
    return np.concatenate([flat[:start], input.reshape(-1), flat[start + input.size :]]).reshape(cache.shape)


def _by_head(input: Array, cache: Array, position: int) -> Array:
    samples, start = cache.reshape(cache.shape[0], -1), position * cache.shape[3]
    new = input.reshape(input.shape[0], -1)
    end = start + new.shape[1]
    return np.concatenate([samples[:, :start], new, samples[:, end:]], axis=1).reshape(cache.shape)


def _without_gaps(cache: Array, g: Given) -> Array:
    """Samples as they lie where each begins as many positions behind the one before as are filled."""
    shape = (cache.shape[0], _kv_len(g), *cache.shape[2:])
    return cache.reshape(-1)[: int(np.prod(shape))].reshape(shape)


FLASH_UNMASKED, FORWARD_UNMASKED = _masked_by(unmasked)
FLASH_STRICT, FORWARD_STRICT = _masked_by(lambda i, j, g: j < i)
_, FROM_THE_START = _masked_by(lambda i, j, g: j <= i - (_kv_len(g) - g["Q"].shape[1]))
WHOLE_CACHE = giving(
    ops.attention_forward, lambda _, g: _attend(g, lambda i, j, g: j <= i + g["K"].shape[1] - _kv_len(g))
)
ROUNDED = "probabilities rounded to bfloat16"
IN_HALF = "The second product is computed in half precision."
NO_MASK = "Every query sees every key."
BY_POWERS = "KV head by a group rounded down to a power of two"
SHIFTED = "h / group is computed as a shift, which is right where heads of a group are a power of two."
MODULO = "Query heads take turns with the KV heads instead of sharing one by groups."

READINGS = (
    *(
        reading
        for function in WITH_SCALE
        for reading in (
            Reading(
                function.__name__,
                "scale applied twice",
                "Queries and scores are both scaled.",
                fed(function, scale=lambda g: g["scale"] ** 2),
            ),
            Reading(function.__name__, "scale ignored", "Scores are not scaled.", fed(function, scale=lambda g: 1.0)),
            Reading(
                function.__name__,
                "1 / sqrt(head_dim) in place of the scale",
                "Every model's usual scale stands in the kernel.",
                fed(function, scale=lambda g: float(g["Q"].shape[-1] ** -0.5)),
            ),
        )
    ),
    Reading(
        "attention_scores",
        "first head for all",
        "The stride from head to head is left out.",
        fed(ops.attention_scores, Q=lambda g: np.repeat(g["Q"][:, :, :1], g["Q"].shape[2], axis=2)),
    ),
    Reading(
        "attention_scores",
        "no causal mask",
        NO_MASK,
        lambda Q, K, scale: by_heads(Q) @ np.swapaxes(K, 1, 2)[:, None] * scale,
    ),
    Reading(
        "attention_scores",
        "masked by a large number",
        "-1e9 stands for minus infinity.",
        giving(ops.attention_scores, lambda r, g: np.maximum(r, -1e9)),
    ),
    Reading(
        "attention_scores",
        "masked by 0",
        "Masked scores are cleared.",
        giving(ops.attention_scores, lambda r, g: np.where(np.isneginf(r), r.dtype.type(0), r)),
    ),
    Reading(
        "attention_scores",
        "mask added",
        "Minus infinity is added to a masked score, which keeps the NaN of a key that should not count.",
        _mask_added,
    ),
    Reading(
        "attention_output",
        "weights transposed",
        "Keys and queries are exchanged in the weights.",
        fed(ops.attention_output, weights=lambda g: np.swapaxes(g["weights"], 2, 3)),
    ),
    Reading(
        "attention_output",
        "heads before positions",
        "The output is left as (batch, heads, positions, head_dim).",
        giving(ops.attention_output, lambda r, g: by_heads(r).reshape(r.shape)),
    ),
    Reading("flash_attention", "h modulo n_kv_heads", MODULO, _flash_modulo),
    Reading("attention_forward", "h modulo n_kv_heads", MODULO, _forward_modulo),
    *(Reading(f.__name__, BY_POWERS, SHIFTED, _shifted(f)) for f in (ops.flash_attention, ops.attention_forward)),
    *(
        Reading(
            function.__name__,
            "first query head of a group for all",
            "The loop over a KV head's query heads does not move on in Q.",
            fed(function, Q=_first_of_its_group),
        )
        for function in (ops.flash_attention, ops.attention_forward)
    ),
    Reading(
        "attention_forward",
        "weights of a group's first head for all",
        "A KV head's query heads share a row of weights.",
        giving(ops.attention_forward, _weighed_as_the_first),
    ),
    Reading("flash_attention", "no causal mask", NO_MASK, FLASH_UNMASKED),
    Reading("attention_forward", "no causal mask", NO_MASK, FORWARD_UNMASKED),
    Reading("flash_attention", "own key masked", "j < i is written where j <= i is meant.", FLASH_STRICT),
    Reading("attention_forward", "own key masked", "j < i is written where j <= i is meant.", FORWARD_STRICT),
    Reading(
        "flash_attention", ROUNDED, IN_HALF, giving(ops.flash_attention, lambda _, g: _attend(g, held=bfloat16)[0])
    ),
    Reading(
        "attention_forward",
        ROUNDED,
        IN_HALF,
        giving(ops.attention_forward, lambda _, g: _attend(_filled(g), held=bfloat16)),
    ),
    Reading(
        "attention_forward", "mask from the start", "Queries are taken to stand at the first positions.", FROM_THE_START
    ),
    Reading(
        "attention_forward",
        "samples kv_len positions apart",
        "The filled length is taken for the cache's capacity where the second sample begins.",
        fed(ops.attention_forward, K=lambda g: _without_gaps(g["K"], g), V=lambda g: _without_gaps(g["V"], g)),
    ),
    Reading("attention_forward", "whole cache seen", "The cache's capacity is taken for its length.", WHOLE_CACHE),
    Reading(
        "attention_forward",
        "lse without the maximum",
        "The logarithm of the shifted sum is kept.",
        giving(ops.attention_forward, lambda r, g: (r[0], r[1] - np.max(scores_of(g, causal)[0], axis=-1))),
    ),
    Reading(
        "attention_forward",
        "lse to base 2",
        "The kernel computes with exp2 and keeps its logarithm.",
        giving(ops.attention_forward, lambda r, g: (r[0], r[1] / float(np.log(2.0)))),
    ),
    Reading(
        "kv_cache_append",
        "position ignored",
        "The cache is always written from its start.",
        fed(ops.kv_cache_append, position=lambda g: 0),
    ),
    Reading(
        "kv_cache_append",
        "sequences side by side",
        "The new entries are copied as one piece: those of all sequences behind the first one's.",
        _side_by_side,
    ),
    Reading(
        "kv_cache_append",
        "positions head_dim numbers apart",
        "A position's heads are left out of where new entries begin.",
        _by_head,
    ),
    Reading(
        "kv_cache_append",
        "one position late",
        "position is taken for that of the last entry written before.",
        fed(ops.kv_cache_append, position=lambda g: min(g["position"] + 1, g["cache"].shape[1] - g["input"].shape[1])),
    ),
    Reading(
        "kv_cache_append",
        "rest cleared",
        "The cache is built anew around the entries.",
        fed(ops.kv_cache_append, cache=lambda g: np.zeros_like(g["cache"])),
    ),
)
