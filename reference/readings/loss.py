"""Wrong readings of the cross entropy."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference.arrays import Array
from reference.ops import loss as ops
from reference.ops.softmax import softmax

from .reading import Given, Reading, fed, giving
from .softmax import FROM_0, largest_from_0


def _counted(g: Given) -> Array:
    return g["targets"] >= 0


def _loss_times(factor: Any) -> Any:
    return giving(ops.cross_entropy_forward, lambda r, g: (r[0] * factor(g), r[1]))


def _clamped(results: Any, g: Given) -> tuple[Array, Array]:
    """Probabilities below 1e-10 are raised to it before the logarithm: the loss cannot pass 23.03."""
    (rows,) = np.nonzero(_counted(g))
    chosen = np.maximum(np.exp(results[1][rows, g["targets"][rows]]), 1e-10)
    return (np.mean(-np.log(chosen), keepdims=True) if rows.size else results[0]), results[1]


def _log_of_probabilities(logits: Array, targets: Array) -> tuple[Array, Array]:
    return _loss_of(np.log(softmax(logits)), targets)


def _log_of_more(logits: Array, targets: Array) -> tuple[Array, Array]:
    return _loss_of(np.log(softmax(logits) + 1e-10), targets)


def _maximum_from_0(logits: Array, targets: Array) -> tuple[Array, Array]:
    shifted = logits - largest_from_0(logits)
    return _loss_of(shifted - np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True)), targets)


def _loss_of(log_probs: Array, targets: Array) -> tuple[Array, Array]:
    (rows,) = np.nonzero(targets >= 0)
    chosen = -log_probs[rows, targets[rows]]
    return (np.mean(chosen, keepdims=True) if rows.size else np.zeros_like(log_probs[:1, 0])), log_probs


def _ignored_as_class_0(g: Given) -> Array:
    return np.maximum(g["targets"], 0)


def last_class_for_minus_1(targets: Array, classes: int) -> Array:
    """Targets of -1 as an array of Python takes them."""
    return np.where(targets == -1, classes - 1, targets)


LAST_CLASS = "-1 is the last class, as in an array of Python; what is less is ignored."

READINGS = (
    Reading(
        "cross_entropy_forward",
        "-1 as the last class",
        LAST_CLASS,
        fed(ops.cross_entropy_forward, targets=lambda g: last_class_for_minus_1(g["targets"], g["logits"].shape[1])),
    ),
    Reading(
        "cross_entropy_backward",
        "-1 as the last class",
        LAST_CLASS,
        fed(
            ops.cross_entropy_backward, targets=lambda g: last_class_for_minus_1(g["targets"], g["log_probs"].shape[1])
        ),
    ),
    Reading(
        "cross_entropy_forward",
        "sum in place of the mean",
        "The rows' losses are added up.",
        _loss_times(lambda g: max(int(np.count_nonzero(_counted(g))), 1)),
    ),
    Reading(
        "cross_entropy_forward",
        "mean over all rows",
        "Ignored rows count in the divisor.",
        _loss_times(lambda g: np.count_nonzero(_counted(g)) / len(g["targets"])),
    ),
    Reading(
        "cross_entropy_forward",
        "probabilities clamped at 1e-10",
        "The logarithm is protected from 0, so that the loss saturates at 23.03.",
        giving(ops.cross_entropy_forward, _clamped),
    ),
    Reading(
        "cross_entropy_forward",
        "logarithm of the probabilities",
        "The softmax is taken first: a probability that vanishes has an infinite logarithm.",
        _log_of_probabilities,
    ),
    Reading(
        "cross_entropy_forward",
        "logarithm of the probabilities plus 1e-10",
        "The softmax is taken first, and its logarithm is protected from 0.",
        _log_of_more,
    ),
    Reading("cross_entropy_forward", *FROM_0, _maximum_from_0),
    Reading(
        "cross_entropy_forward",
        "ignored rows as class 0",
        "A negative target is clamped to the first class.",
        fed(ops.cross_entropy_forward, targets=_ignored_as_class_0),
    ),
    Reading(
        "cross_entropy_forward",
        "probabilities in place of log_probs",
        "What is kept for the backward is not the logarithm.",
        giving(ops.cross_entropy_forward, lambda r, g: (r[0], np.exp(r[1]))),
    ),
    Reading(
        "cross_entropy_forward",
        "bits",
        "The logarithm is taken to base 2.",
        _loss_times(lambda g: 1.0 / float(np.log(2.0))),
    ),
    Reading(
        "cross_entropy_backward",
        "ignored rows differentiated",
        "Rows that do not count get exp(log_probs) * scale.",
        giving(
            ops.cross_entropy_backward,
            lambda r, g: np.where(_counted(g)[:, None], r, np.exp(g["log_probs"]) * g["scale"]),
        ),
    ),
    Reading(
        "cross_entropy_backward",
        "ignored rows as class 0",
        "A negative target is clamped to the first class.",
        fed(ops.cross_entropy_backward, targets=_ignored_as_class_0),
    ),
    Reading(
        "cross_entropy_backward",
        "scale ignored",
        "The gradient of the sum is returned.",
        fed(ops.cross_entropy_backward, scale=lambda g: 1.0),
    ),
    Reading(
        "cross_entropy_backward",
        "divided by all rows",
        "The kernel takes the mean although the scale holds it.",
        fed(ops.cross_entropy_backward, scale=lambda g: g["scale"] / len(g["targets"])),
    ),
    Reading(
        "cross_entropy_backward",
        "onehot not scaled",
        "The scale is applied to the probabilities alone.",
        giving(
            ops.cross_entropy_backward,
            lambda r, g: (
                r
                + np.where(g["targets"][:, None] == np.arange(r.shape[1]), 1.0, 0.0).astype(r.dtype)
                * (g["scale"] - 1.0)
            ),
        ),
    ),
    Reading(
        "cross_entropy_backward",
        "onehot missing",
        "The probabilities alone are returned.",
        giving(
            ops.cross_entropy_backward,
            lambda r, g: np.where(_counted(g)[:, None], np.exp(g["log_probs"]) * g["scale"], r.dtype.type(0)),
        ),
    ),
    Reading(
        "cross_entropy_backward",
        "sign reversed",
        "onehot - probabilities, as for the gradient of the log-likelihood.",
        giving(ops.cross_entropy_backward, lambda r, g: -r),
    ),
)
