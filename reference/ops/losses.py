"""Losses against targets as many as the predictions: squared error, binary and categorical cross entropy.

A forward gives the mean as (1,); its backward is the mean's gradient times scale.
"""

from __future__ import annotations

import numpy as np

from reference.arrays import Array, check, check_same_shape, ieee

from .blocks import by_elements, by_rows
from .elementwise import logistic
from .loss import log_softmax

LOWEST_LOG = -100.0  # what a probability of 0 costs at most, as in PyTorch
SMALLEST = float.fromhex("0x1.197998p-40")  # 1e-12 as float32 holds it: the smallest divisor of a gradient


def squared_error(p: Array, t: Array) -> Array:
    """(p - t)^2."""
    return (p - t) ** 2


def binary_entropy(p: Array, t: Array) -> Array:
    """-(t * log p + (1 - t) * log(1 - p)), either logarithm at least -100."""
    return -(t * _log(p) + (1.0 - t) * _log(1.0 - p))


def binary_entropy_of_logit(x: Array, t: Array) -> Array:
    """binary_entropy at p = sigmoid(x), without its bounds; nothing overflows."""
    return np.maximum(x, 0.0) - x * t + np.log(1.0 + np.exp(-np.abs(x)))


def categorical_entropy(p: Array, label: Array) -> Array:
    """-label * log p, the logarithm at least -100."""
    return -label * _log(p)


def _log(p: Array) -> Array:
    return np.maximum(np.log(p), LOWEST_LOG)


@ieee
def mse_forward(prediction: Array, target: Array) -> Array:
    """The mean of (prediction - target)^2: (1,)."""
    check_same_shape("mse_forward", prediction=prediction, target=target)
    return _mean(by_elements(squared_error, prediction, target))


@ieee
def mse_backward(prediction: Array, target: Array, scale: float) -> Array:
    """2 * (prediction - target) * scale / n."""
    check_same_shape("mse_backward", prediction=prediction, target=target)
    return by_elements(lambda p, t: (p - t) * (2.0 * scale / prediction.size), prediction, target)


@ieee
def bce_forward(probability: Array, target: Array) -> Array:
    """The mean of -(t * log p + (1 - t) * log(1 - p)), either logarithm at least -100: (1,).

    NaN where a probability is none, or lies outside of [0, 1].
    """
    check_same_shape("bce_forward", probability=probability, target=target)
    return _mean(by_elements(binary_entropy, probability, target))


@ieee
def bce_backward(probability: Array, target: Array, scale: float) -> Array:
    """(p - t) / max(p * (1 - p), 1e-12) * scale / n."""
    check_same_shape("bce_backward", probability=probability, target=target)
    factor = scale / probability.size

    def formula(p: Array, t: Array) -> Array:
        return (p - t) / np.maximum(p * (1.0 - p), SMALLEST) * factor

    return by_elements(formula, probability, target)


@ieee
def bce_logits_forward(logits: Array, target: Array) -> Array:
    """The mean of max(x, 0) - x * t + log(1 + exp(-|x|)): (1,)."""
    check_same_shape("bce_logits_forward", logits=logits, target=target)
    return _mean(by_elements(binary_entropy_of_logit, logits, target))


@ieee
def bce_logits_backward(logits: Array, target: Array, scale: float) -> Array:
    """(sigmoid(logits) - target) * scale / n."""
    check_same_shape("bce_logits_backward", logits=logits, target=target)
    factor = scale / logits.size
    return by_elements(lambda x, t: (logistic(x) - t) * factor, logits, target)


@ieee
def categorical_cross_entropy_forward(probabilities: Array, labels: Array) -> Array:
    """The mean over rows of the sum of -labels * log p, a logarithm at least -100: (1,). Arrays: (rows, cols)."""
    check_same_shape("categorical_cross_entropy_forward", probabilities=probabilities, labels=labels)
    return _mean_of_rows(by_elements(categorical_entropy, probabilities, labels))


@ieee
def categorical_cross_entropy_backward(probabilities: Array, labels: Array, scale: float) -> Array:
    """-labels / max(p, 1e-12) * scale / rows."""
    check_same_shape("categorical_cross_entropy_backward", probabilities=probabilities, labels=labels)
    factor = scale / len(labels)
    return by_elements(lambda p, y: -y / np.maximum(p, SMALLEST) * factor, probabilities, labels)


@ieee
def cross_entropy_dense_forward(logits: Array, labels: Array, temperature: float) -> tuple[Array, Array]:
    """The mean over rows of the sum of -labels * log_probs: (1,), and log_probs: log-softmax of logits / temperature.

    Arrays: (rows, cols). Labels need not sum to 1; one of 0 makes NaN of a log_probs of -infinity.
    """
    _check_temperature("cross_entropy_dense_forward", temperature)
    check_same_shape("cross_entropy_dense_forward", logits=logits, labels=labels)
    log_probs = by_rows(lambda x: log_softmax(x / temperature), logits)
    return _mean_of_rows(by_elements(lambda x, y: -y * x, log_probs, labels)), log_probs


@ieee
def cross_entropy_dense_backward(log_probs: Array, labels: Array, temperature: float, scale: float) -> Array:
    """(exp(log_probs) * s - labels) * scale / (rows * temperature), s the sum of the row's labels."""
    _check_temperature("cross_entropy_dense_backward", temperature)
    check_same_shape("cross_entropy_dense_backward", log_probs=log_probs, labels=labels)
    factor = scale / (len(labels) * temperature)

    def formula(x: Array, y: Array) -> Array:
        return (np.exp(x) * np.sum(y, axis=-1, keepdims=True) - y) * factor

    return by_rows(formula, log_probs, labels)


def _mean(terms: Array) -> Array:
    return np.mean(terms.reshape(-1), keepdims=True)


def _mean_of_rows(terms: Array) -> Array:
    """In one sum over everything: whoever adds up rows first errs by no more."""
    return np.sum(terms.reshape(-1), keepdims=True) / len(terms)


def _check_temperature(operation: str, temperature: float) -> None:
    check(temperature > 0, operation, "temperature", "temperature > 0", temperature)
