"""Wrong readings of the cross entropy of rows with a label in every column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reference.arrays import Array
from reference.ops import losses as ops

from .means import KERAS, Function, common, exchanged, gradient_of, mean_of, pair, readings_of, rows, times
from .reading import Given, Reading, fed, giving
from .softmax import FROM_0, largest_from_0


def _passed_over(results: Any, g: Given) -> Any:
    """Labels of 0 add nothing, whatever the logarithm is."""
    terms = np.where(g["labels"] == 0, results[1].dtype.type(0), -g["labels"] * results[1])
    return np.sum(terms.reshape(-1), keepdims=True) / rows(g), results[1]


def _dense_of(log_probs: Callable[[Given, Array], Array]) -> Function:
    """The loss of other logarithms, which are returned."""

    def change(results: Any, g: Given) -> Any:
        logs = log_probs(g, results[1])
        return np.sum((-g["labels"] * logs).reshape(-1), keepdims=True) / rows(g), logs

    return giving(ops.cross_entropy_dense_forward, change)


def _of_probabilities(g: Given, logs: Array) -> Array:
    """The softmax is taken first: a probability that vanishes has an infinite logarithm."""
    return np.log(np.exp(logs))


def _shifted_by_undivided(g: Given, logs: Array) -> Array:
    """The maximum is taken before the logits are divided: exponentials overflow, or nothing is left of them."""
    x = g["logits"] / g["temperature"] - np.max(g["logits"], axis=-1, keepdims=True)
    return x - np.log(np.sum(np.exp(x), axis=-1, keepdims=True))


def _maximum_from_0(g: Given, logs: Array) -> Array:
    x = g["logits"] / g["temperature"]
    shifted = x - largest_from_0(x)
    return shifted - np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True))


def _slope_without_sum(x: Array, y: Array) -> Array:
    return np.exp(x) - y


def _over_everything(name: str) -> tuple[Reading, ...]:
    """Of rows: the mean is over every number."""
    forward, backward = getattr(ops, f"{name}_forward"), getattr(ops, f"{name}_backward")

    def share(g: Given) -> float:
        return 1.0 / float(pair(g)[0].shape[1])

    return (
        Reading(f"{name}_forward", "mean over all numbers", "The columns count in the divisor.", times(forward, share)),
        Reading(
            f"{name}_backward", "divided by all numbers", "The columns count in the divisor.", times(backward, share)
        ),
    )


def _equal_labels(g: Given) -> Array:
    """The row's largest label alone, as if one class were right."""
    return np.where(g["labels"] == np.max(g["labels"], axis=-1, keepdims=True), 1.0, 0.0).astype(g["labels"].dtype)


READINGS = (
    *(
        reading
        for name in ("categorical_cross_entropy", "cross_entropy_dense")
        for reading in (*common(name, rows), *_over_everything(name))
    ),
    *readings_of(
        ops.categorical_cross_entropy_forward,
        (
            "prediction and target exchanged",
            "The labels' logarithm is taken.",
            exchanged(ops.categorical_cross_entropy_forward),
        ),
        (
            "no bound",
            "log(0) is infinite.",
            mean_of(ops.categorical_cross_entropy_forward, lambda p, y: -y * np.log(p)),
        ),
        (
            "kept above 1e-7",
            "The probability is bounded, as in Keras.",
            mean_of(
                ops.categorical_cross_entropy_forward, lambda p, y: -y * np.log(np.maximum(p, p.dtype.type(KERAS)))
            ),
        ),
        (
            "logarithm of 1e-12 at least",
            "The bound of the divisor is taken.",
            mean_of(
                ops.categorical_cross_entropy_forward,
                lambda p, y: -y * np.log(np.maximum(p, p.dtype.type(ops.SMALLEST))),
            ),
        ),
        ("binary terms", "Every column is a class of its own.",
         mean_of(ops.categorical_cross_entropy_forward, ops.binary_entropy)),
        (
            "probabilities brought to a sum of 1",
            "Each row is divided by its sum first, as in Keras.",
            fed(
                ops.categorical_cross_entropy_forward,
                probabilities=lambda g: g["probabilities"] / np.sum(g["probabilities"], axis=-1, keepdims=True),
            ),
        ),
    ),
    *readings_of(
        ops.categorical_cross_entropy_backward,
        (
            "probabilities less labels",
            "The gradient of the logits is returned.",
            gradient_of(ops.categorical_cross_entropy_backward, lambda p, y: p - y),
        ),
        ("no bound", "The divisor may be 0.",
         gradient_of(ops.categorical_cross_entropy_backward, lambda p, y: -y / p)),
        ("1e-12 added", "The divisor is protected from 0 by a sum.",
         gradient_of(ops.categorical_cross_entropy_backward, lambda p, y: -y / (p + ops.SMALLEST))),
        (
            "divisor at least 1e-7",
            "The bound is Keras'.",
            gradient_of(
                ops.categorical_cross_entropy_backward, lambda p, y: -y / np.maximum(p, p.dtype.type(KERAS))
            ),
        ),
    ),
    *readings_of(
        ops.cross_entropy_dense_forward,
        ("temperature ignored", "The logits are taken as they are.",
         fed(ops.cross_entropy_dense_forward, temperature=lambda g: 1.0)),
        ("temperature multiplied", "It is taken for its inverse.",
         fed(ops.cross_entropy_dense_forward, temperature=lambda g: 1.0 / g["temperature"])),
        (
            "loss times the temperature's square",
            "As where a model is distilled (Hinton et al. 2015).",
            times(ops.cross_entropy_dense_forward, lambda g: g["temperature"] ** 2),
        ),
        ("maximum not divided", "exp(x / temperature - max(x)) overflows.", _dense_of(_shifted_by_undivided)),
        (*FROM_0, _dense_of(_maximum_from_0)),
        ("labels of 0 passed over", "0 * -inf counts as 0.", giving(ops.cross_entropy_dense_forward, _passed_over)),
        ("logarithm of the probabilities", "The softmax is taken first.", _dense_of(_of_probabilities)),
        (
            "probabilities in place of log_probs",
            "What is kept for the backward is not the logarithm.",
            giving(ops.cross_entropy_dense_forward, lambda r, g: (r[0], np.exp(r[1]))),
        ),
        (
            "the largest label alone",
            "Labels are taken for one class.",
            fed(ops.cross_entropy_dense_forward, labels=_equal_labels),
        ),
    ),
    *readings_of(
        ops.cross_entropy_dense_backward,
        (
            "labels taken as summing to 1",
            "The probabilities are not multiplied by the labels' sum.",
            giving(
                ops.cross_entropy_dense_backward,
                lambda r, g: _slope_without_sum(*pair(g)) * (g["scale"] / (rows(g) * g["temperature"])),
            ),
        ),
        ("temperature ignored", "The gradient is that of the divided logits.",
         fed(ops.cross_entropy_dense_backward, temperature=lambda g: 1.0)),
        ("temperature multiplied", "It is taken for its inverse.",
         fed(ops.cross_entropy_dense_backward, temperature=lambda g: 1.0 / g["temperature"])),
        ("temperature squared", "It is divided by twice.",
         fed(ops.cross_entropy_dense_backward, temperature=lambda g: g["temperature"] ** 2)),
        ("probabilities missing", "The labels alone are returned.",
         giving(ops.cross_entropy_dense_backward,
                lambda r, g: -g["labels"] * (g["scale"] / (rows(g) * g["temperature"])))),
    ),
)  # fmt: skip
