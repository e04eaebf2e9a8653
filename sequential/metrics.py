"""Metrics by Keras' names: what a prediction and its labels score, for each sample."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .losses import BinaryCrossentropy, Loss, SparseCategoricalCrossentropy

Array = NDArray[Any]
Metric = Callable[[Array, Array], Array]  # prediction and label to a number per sample


def _per_sample(values: Array) -> Array:
    mean: Array = values.reshape(len(values), -1).astype(np.float64).mean(axis=1)
    return mean


def categorical_accuracy(prediction: Array, label: Array) -> Array:
    """Whether the largest of prediction and label lie in one class."""
    return _per_sample(prediction.argmax(-1) == label.argmax(-1))


def sparse_categorical_accuracy(prediction: Array, label: Array) -> Array:
    """Whether the largest of a prediction is the class of the label's number."""
    return _per_sample(prediction.argmax(-1) == label)


def binary_accuracy(prediction: Array, label: Array) -> Array:
    """Whether a probability is above 0.5 where the label is 1, and nowhere else."""
    return _per_sample((prediction > 0.5) == (label > 0.5))


def binary_accuracy_of_logits(prediction: Array, label: Array) -> Array:
    """The same of logits, which are above 0 there; Keras takes 0.5 whatever the predictions are."""
    return _per_sample((prediction > 0) == (label > 0.5))


def mean_squared_error(prediction: Array, label: Array) -> Array:
    """(prediction - label)^2."""
    return _per_sample(np.square(prediction.astype(np.float64) - label))


def mean_absolute_error(prediction: Array, label: Array) -> Array:
    """|prediction - label|."""
    return _per_sample(np.abs(prediction.astype(np.float64) - label))


METRICS: dict[str, Metric] = {
    "binary_accuracy": binary_accuracy,
    "categorical_accuracy": categorical_accuracy,
    "sparse_categorical_accuracy": sparse_categorical_accuracy,
    "mean_squared_error": mean_squared_error,
    "mean_absolute_error": mean_absolute_error,
    "mse": mean_squared_error,
    "mae": mean_absolute_error,
}


def metric_of(name: Any, loss: Loss) -> Metric:
    """Return a metric; `accuracy`, or `acc`, is the one that suits the loss.  Raises ValueError for another name."""
    sparse, binary = isinstance(loss, SparseCategoricalCrossentropy), isinstance(loss, BinaryCrossentropy)
    if name in ("accuracy", "acc"):
        fitting = "sparse_categorical" if sparse else "binary" if binary else "categorical"
        name = f"{fitting}_accuracy"
    if name not in METRICS:
        raise ValueError(f"compile: metrics: expected names of accuracy, {', '.join(METRICS)}, got {name!r}")
    if sparse != (name == "sparse_categorical_accuracy"):
        labels = "class numbers" if sparse else "numbers for every class"
        raise ValueError(f"compile: metrics: {name} does not fit labels that are {labels}, as {loss.name} has them")
    if name == "binary_accuracy" and isinstance(loss, BinaryCrossentropy) and loss.from_logits:
        return binary_accuracy_of_logits
    return METRICS[name]
