"""Wrong readings of the gradient of attention_softmax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reference.arrays import Array
from reference.ops import attention_softmax as ops

from .reading import Reading, fed
from .softmax import of_the_weighted


def _backward(name: str, why: str, function: Callable[[Array, Array], Array]) -> Reading:
    """function: of weights and gradient, before the scale."""
    return Reading(
        "attention_softmax_backward", name, why,
        lambda weights, d_scores, scale: function(weights, d_scores) * scale,
    )  # fmt: skip


def _total(products: Array, axis: Any = -1) -> Array:
    return np.sum(products, axis=axis, keepdims=True)


READINGS = (
    _backward("sum missing", "The rows' common term is left out.", lambda w, d: w * d),
    _backward("diagonal alone", "w * (1 - w) is the derivative of one weight by itself.", lambda w, d: w * (1 - w) * d),
    _backward("unweighted sum", "The gradient is summed without the weights.", lambda w, d: w * (d - _total(d))),
    _backward(
        "mean in place of the sum",
        "The common term is averaged over the keys.",
        lambda w, d: w * (d - np.mean(w * d, axis=-1, keepdims=True)),
    ),
    _backward(
        "weights of 0 left out of the sum", "0 * infinity is lost.", lambda w, d: w * (d - of_the_weighted(w, d))
    ),
    _backward("weights missing before the difference", "They are in the sum alone.", lambda w, d: d - _total(w * d)),
    _backward("sum added", "Its sign is turned.", lambda w, d: w * (d + _total(w * d))),
    _backward(
        "sum of the weights' squares", "The gradient is left out of the sum.", lambda w, d: w * (d - _total(w * w))
    ),
    _backward("sum over queries", "The other axis is summed.", lambda w, d: w * (d - _total(w * d, -2))),
    _backward(
        "sum over the head", "All queries of a head share a sum.", lambda w, d: w * (d - _total(w * d, (-2, -1)))
    ),
    _backward(
        "sum of the first 1024 keys",
        "One block's sum is taken for the row's.",
        lambda w, d: w * (d - _total((w * d)[..., :1024])),
    ),
    _backward("added to what was there", "The result is accumulated.", lambda w, d: w * (d - _total(w * d)) + d),
    Reading(
        "attention_softmax_backward",
        "scale ignored",
        "It is left to the gradient of the scores.",
        fed(ops.attention_softmax_backward, scale=lambda g: 1.0),
    ),
    Reading(
        "attention_softmax_backward",
        "scale in the sum alone",
        "The sum is scaled, the gradient is not.",
        lambda weights, d_scores, scale: weights * (d_scores - _total(weights * d_scores) * scale),
    ),
    Reading(
        "attention_softmax_backward",
        "divided by the scale",
        "scale is taken for the temperature.",
        fed(ops.attention_softmax_backward, scale=lambda g: 1 / g["scale"] if g["scale"] else np.inf),
    ),
    _backward(
        "softmax once more",
        "What is kept is taken for the scores.",
        lambda w, d: ops.attention_softmax_backward(ops.attention_softmax(w, None, 1.0, 0, 0, 0), d, 1.0),
    ),
)
