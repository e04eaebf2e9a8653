"""Wrong readings of the router's gradient: those of the operations that it is made of, and of how they join."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from reference.arrays import Array
from reference.ops.moe import aux_loss_backward
from reference.ops.router import topk_router_backward
from reference.ops.softmax import softmax_backward, softmax_topk_backward

from . import moe
from . import softmax as of_softmax
from .reading import Given, Reading, fed


def _of_choice(given: Given, differentiate: Callable[..., Any] = softmax_topk_backward) -> Array:
    """Through the weights of those chosen."""
    cols = given["probs"].shape[1]
    through: Array = differentiate(given["weights"], given["indices"], given["d_weights"], cols)
    return through


def _slopes(given: Given, differentiate: Callable[..., Any] = aux_loss_backward) -> Array:
    """The auxiliary loss's gradient of the probabilities."""
    counts, tokens = given["f_counts"], len(given["probs"])
    slopes: Array = differentiate(counts, batch_seq=tokens, alpha=given["alpha"], scale=given["scale"])
    return slopes


def _of_loss(given: Given, differentiate: Callable[..., Any] = softmax_backward) -> Array:
    """Through the auxiliary loss."""
    through: Array = differentiate(given["probs"], _slopes(given))
    return through


def _joined(join: Callable[[Given], Array]) -> Callable[..., Array]:
    def function(
        weights: Array, indices: Array, probs: Array, f_counts: Array, d_weights: Array, alpha: float, scale: float
    ) -> Array:
        told: Given = {"weights": weights, "indices": indices, "probs": probs, "f_counts": f_counts}
        return join(told | {"d_weights": d_weights, "alpha": alpha, "scale": scale})

    return function


_EQUAL_HERE = ("probabilities of 0 left out of the sum",)  # the loss's gradient is finite
_PARTS: dict[str, Callable[[Callable[..., Any]], Callable[[Given], Array]]] = {
    "softmax_topk_backward": lambda wrong: lambda g: _of_choice(g, wrong) + _of_loss(g),
    "softmax_backward": lambda wrong: lambda g: _of_choice(g) + _of_loss(g, wrong),
    "aux_loss_backward": lambda wrong: lambda g: _of_choice(g) + softmax_backward(g["probs"], _slopes(g, wrong)),
}


def _of_parts() -> Iterator[Reading]:
    """A part misread: each is read as in its own operation, the others are right."""
    for reading in (*of_softmax.READINGS, *moe.READINGS):
        if reading.operation in _PARTS and reading.name not in _EQUAL_HERE:
            function = _joined(_PARTS[reading.operation](reading.function))
            name = f"{reading.operation}: {reading.name}"
            yield replace(reading, operation="topk_router_backward", name=name, function=function)


def _by_chosen_alone(g: Given) -> Array:
    """The loss's gradient reaches the logits of the experts chosen, and no others."""
    held = np.zeros(g["probs"].shape, bool)
    np.put_along_axis(held, g["indices"], True, axis=1)
    return _of_choice(g) + np.where(held, _of_loss(g), 0)


READINGS = (
    *_of_parts(),
    Reading(
        "topk_router_backward",
        "weights not differentiated",
        "The experts chosen are a choice, and a choice has no gradient.",
        _joined(_of_loss),
    ),
    Reading(
        "topk_router_backward",
        "softmax of the loss not differentiated",
        "The gradient of the probabilities is taken for that of the logits.",
        _joined(lambda g: _of_choice(g) + _slopes(g)),
    ),
    Reading(
        "topk_router_backward",
        "loss's gradient of the chosen alone",
        "What a token did not choose is taken to have no gradient.",
        _joined(_by_chosen_alone),
    ),
    Reading(
        "topk_router_backward",
        "first row of probs read for all",
        "The stride of the rows is 0.",
        fed(topk_router_backward, probs=lambda g: np.repeat(g["probs"][:1], len(g["probs"]), axis=0)),
    ),
)
