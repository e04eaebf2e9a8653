"""Wrong readings of the router as one operation: those of the operations that it is made of, and of how they join."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from reference.arrays import Array
from reference.ops.moe import aux_loss_forward
from reference.ops.router import topk_router
from reference.ops.softmax import softmax, softmax_topk

from . import moe, selection
from . import softmax as of_softmax
from .reading import Given, Reading, giving

Results = tuple[Array, ...]
# No token chooses an expert twice, and no model has so many experts.
_EQUAL_HERE = (
    "a token counted once for each slot",
    "a token counted again but for neighbouring slots",
    "maximum of the first 1024 columns",
)


def _by_topk(choose: Callable[..., Any]) -> Callable[..., Results]:
    def function(logits: Array, top_k: int, alpha: float) -> Results:
        weights, indices = choose(logits, top_k)
        probs = softmax(logits)
        return weights, indices, probs, *aux_loss_forward(probs, indices, alpha)

    return function


def _by_softmax(normalise: Callable[..., Any]) -> Callable[..., Results]:
    def function(logits: Array, top_k: int, alpha: float) -> Results:
        weights, indices = softmax_topk(logits, top_k)
        probs = normalise(logits)
        return weights, indices, probs, *aux_loss_forward(probs, indices, alpha)

    return function


def _by_loss(balance: Callable[..., Any]) -> Callable[..., Results]:
    def function(logits: Array, top_k: int, alpha: float) -> Results:
        weights, indices = softmax_topk(logits, top_k)
        probs = softmax(logits)
        return weights, indices, probs, *balance(probs, indices, alpha)

    return function


def _of_parts() -> Iterator[Reading]:
    """A part misread: each is read as in its own operation, the others are right."""
    parts = {"softmax_topk": _by_topk, "softmax": _by_softmax, "aux_loss_forward": _by_loss}
    for reading in (*of_softmax.READINGS, *selection.READINGS, *moe.READINGS):
        if reading.operation in parts and reading.name not in _EQUAL_HERE:
            function = parts[reading.operation](reading.function)
            yield replace(
                reading, operation="topk_router", name=f"{reading.operation}: {reading.name}", function=function
            )


def _held(results: Results) -> Array:
    held = np.zeros(results[2].shape, bool)
    np.put_along_axis(held, results[1], True, axis=1)
    return held


def _chosen_alone(results: Results, g: Given) -> Results:
    """probs of the experts chosen, 0 for the others; the loss is right."""
    kept = np.where(_held(results), results[2], results[2].dtype.type(0))
    return results[0], results[1], kept, *results[3:]


def _renormalised(results: Results, g: Given) -> Results:
    """P is of the weights, which are renormalised."""
    weights, indices, probs, *_ = results
    given = np.zeros_like(probs)
    np.put_along_axis(given, indices, weights, axis=1)
    return weights, indices, probs, *aux_loss_forward(given, indices, g["alpha"])


def _logits_kept(results: Results, g: Given) -> Results:
    return results[0], results[1], g["logits"], *results[3:]


def _last_tile(tokens: int) -> Callable[[Results, Given], Results]:
    """The statistics are those of whole tiles of tokens, or of the only one."""

    def change(results: Results, g: Given) -> Results:
        weights, indices, probs, *_ = results
        count = max(len(probs) // tokens * tokens, min(tokens, len(probs)))
        aux_loss, f_counts, p_means = aux_loss_forward(probs[:count], indices[:count], g["alpha"])
        return weights, indices, probs, aux_loss, f_counts, p_means * (count / len(probs))

    return change


READINGS = (
    *_of_parts(),
    Reading(
        "topk_router",
        "probs of the chosen alone",
        "The others' probabilities are taken for what top-k leaves: nothing.",
        giving(topk_router, _chosen_alone),
    ),
    Reading(
        "topk_router",
        "statistics of the weights",
        "P is the mean of what a token's experts are given, not of its probabilities.",
        giving(topk_router, _renormalised),
    ),
    Reading(
        "topk_router",
        "logits kept as probs",
        "What backward is to read is taken before the softmax.",
        giving(topk_router, _logits_kept),
    ),
    Reading(
        "topk_router",
        "last tile of 64 tokens left out of the statistics",
        "The tokens past the last whole tile are routed, but not counted.",
        giving(topk_router, _last_tile(64)),
    ),
)
