"""Wrong readings of losses against targets as many as the predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reference.arrays import Array
from reference.ops import losses as ops

from .reading import Given, Reading, fed, giving, without_tail

Function = Callable[..., Any]
Term = Callable[[Array, Array], Array]
KERAS = 1e-7  # by which Keras keeps probabilities from 0 and 1


def _pair(g: Given) -> tuple[Array, Array]:
    """The prediction and its target, which come first in every loss."""
    first, second, *_ = g.values()
    return first, second


def _rows(g: Given) -> int:
    return len(_pair(g)[0])


def _times(operation: Function, factor: Callable[[Given], float]) -> Function:
    """The loss, or the gradient, times a factor; log_probs as they are."""

    def change(results: Any, g: Given) -> Any:
        return (results[0] * factor(g), results[1]) if isinstance(results, tuple) else results * factor(g)

    return giving(operation, change)


def _exchanged(operation: Function) -> Function:
    """Prediction and target in each other's place."""

    def change(_: Any, g: Given) -> Any:
        (first, a), (second, b), *others = g.items()
        return operation(**{first: b, second: a, **dict(others)})

    return giving(operation, change)


def _mean_of(operation: Function, term: Term) -> Function:
    """The mean of other terms, over rows where there are rows."""
    return giving(operation, lambda r, g: np.sum(term(*_pair(g)).reshape(-1), keepdims=True) / _rows(g))


def _gradient_of(operation: Function, slope: Term) -> Function:
    """Another slope, scaled and divided as the operation's."""
    return giving(operation, lambda r, g: slope(*_pair(g)) * (g["scale"] / _rows(g)))


def _entropy(p: Array, t: Array) -> Array:
    return -(t * np.log(p) + (1.0 - t) * np.log(1.0 - p))


def _kept_inside(p: Array, t: Array) -> Array:
    return _entropy(np.minimum(np.maximum(p, p.dtype.type(KERAS)), p.dtype.type(1 - KERAS)), t)


def _with_little_more(p: Array, t: Array) -> Array:
    return -(t * np.log(p + 1e-8) + (1.0 - t) * np.log(1.0 - p + 1e-8))


def _by_probability(x: Array, t: Array) -> Array:
    """The probability rounds to 0 or 1."""
    return ops.binary_entropy(1.0 / (1.0 + np.exp(-x)), t)


def _overflowing(x: Array, t: Array) -> Array:
    return x - x * t + np.log(1.0 + np.exp(-x))


def _first_term(p: Array, t: Array) -> Array:
    return ops.categorical_entropy(p, t)


def _passed_over(results: Any, g: Given) -> Any:
    """Labels of 0 add nothing, whatever the logarithm is."""
    terms = np.where(g["labels"] == 0, results[1].dtype.type(0), -g["labels"] * results[1])
    return np.sum(terms.reshape(-1), keepdims=True) / _rows(g), results[1]


def _dense_of(log_probs: Callable[[Given, Array], Array]) -> Function:
    """The loss of other logarithms, which are returned."""

    def change(results: Any, g: Given) -> Any:
        logs = log_probs(g, results[1])
        return np.sum((-g["labels"] * logs).reshape(-1), keepdims=True) / _rows(g), logs

    return giving(ops.cross_entropy_dense_forward, change)


def _of_probabilities(g: Given, logs: Array) -> Array:
    """The softmax is taken first: a probability that vanishes has an infinite logarithm."""
    return np.log(np.exp(logs))


def _slope_without_sum(x: Array, y: Array) -> Array:
    return np.exp(x) - y


def _common(name: str, factor: Callable[[Given], float]) -> tuple[Reading, ...]:
    """What can be misread of every loss; factor: what its divisor is."""
    forward, backward = getattr(ops, f"{name}_forward"), getattr(ops, f"{name}_backward")
    return (
        Reading(f"{name}_forward", "sum in place of the mean", "The terms are added up.", _times(forward, factor)),
        Reading(f"{name}_forward", "sign reversed", "What is maximised is returned.", _times(forward, lambda g: -1.0)),
        Reading(f"{name}_forward", "half of it", "A half stands before the sum.", _times(forward, lambda g: 0.5)),
        Reading(f"{name}_backward", "not divided", "The gradient of the sum is returned.", _times(backward, factor)),
        Reading(f"{name}_backward", "scale ignored", "The gradient of the mean alone.",
                fed(backward, scale=lambda g: 1.0)),
        Reading(f"{name}_backward", "sign reversed", "Target less prediction.", giving(backward, lambda r, g: -r)),
        Reading(f"{name}_backward", "half of it", "A half stands before the sum.", _times(backward, lambda g: 0.5)),
        Reading(f"{name}_backward", "tail left out", "The loop takes four at once and stops before the rest.",
                giving(backward, without_tail)),
    )  # fmt: skip


def _over_everything(name: str) -> tuple[Reading, ...]:
    """Of rows: the mean is over every number."""
    forward, backward = getattr(ops, f"{name}_forward"), getattr(ops, f"{name}_backward")

    def share(g: Given) -> float:
        return 1.0 / float(_pair(g)[0].shape[1])

    return (
        Reading(
            f"{name}_forward", "mean over all numbers", "The columns count in the divisor.", _times(forward, share)
        ),
        Reading(
            f"{name}_backward", "divided by all numbers", "The columns count in the divisor.", _times(backward, share)
        ),
    )


def _of(operation: Function, *readings: tuple[str, str, Function]) -> tuple[Reading, ...]:
    return tuple(Reading(operation.__name__, name, why, function) for name, why, function in readings)


def _equal_labels(g: Given) -> Array:
    """The row's largest label alone, as if one class were right."""
    return np.where(g["labels"] == np.max(g["labels"], axis=-1, keepdims=True), 1.0, 0.0).astype(g["labels"].dtype)


READINGS = (
    *(reading for name in ("mse", "bce", "bce_logits") for reading in _common(name, _rows)),
    *(
        reading
        for name in ("categorical_cross_entropy", "cross_entropy_dense")
        for reading in (*_common(name, _rows), *_over_everything(name))
    ),
    *_of(
        ops.mse_forward,
        ("absolute error", "The difference is not squared.", _mean_of(ops.mse_forward, lambda p, t: np.abs(p - t))),
        ("root", "The root of the mean is returned.", giving(ops.mse_forward, lambda r, g: np.sqrt(r))),
        (
            "squares apart",
            "p^2 - t^2 is taken for (p - t)^2.",
            _mean_of(ops.mse_forward, lambda p, t: p * p - t * t),
        ),
    ),
    *_of(
        ops.bce_forward,
        ("prediction and target exchanged", "The target's logarithm is taken.", _exchanged(ops.bce_forward)),
        ("no bound", "log(0) is infinite.", _mean_of(ops.bce_forward, _entropy)),
        ("kept 1e-7 from 0 and 1", "The probability is bounded, as in Keras.", _mean_of(ops.bce_forward, _kept_inside)),
        ("1e-8 added", "The logarithm is protected from 0.", _mean_of(ops.bce_forward, _with_little_more)),
        ("second term missing", "The categorical entropy.", _mean_of(ops.bce_forward, _first_term)),
    ),
    *_of(
        ops.bce_backward,
        ("prediction and target exchanged", "The target is in the divisor.", _exchanged(ops.bce_backward)),
        ("not divided by p (1 - p)", "That of the logit.", _gradient_of(ops.bce_backward, lambda p, t: p - t)),
        ("no bound", "The divisor may be 0.", _gradient_of(ops.bce_backward, lambda p, t: (p - t) / (p * (1.0 - p)))),
        (
            "1e-12 added",
            "The divisor is protected from 0 by a sum.",
            _gradient_of(ops.bce_backward, lambda p, t: (p - t) / (p * (1.0 - p) + ops.SMALLEST)),
        ),
        (
            "divisor at least 1e-7",
            "The bound is Keras'.",
            _gradient_of(ops.bce_backward, lambda p, t: (p - t) / np.maximum(p * (1.0 - p), p.dtype.type(KERAS))),
        ),
        (
            "either quotient bounded",
            "Both terms are differentiated, and each is bounded.",
            _gradient_of(
                ops.bce_backward,
                lambda p, t: (1.0 - t) / np.maximum(1.0 - p, ops.SMALLEST) - t / np.maximum(p, ops.SMALLEST),
            ),
        ),
    ),
    *_of(
        ops.bce_logits_forward,
        ("prediction and target exchanged", "The target is the logit.", _exchanged(ops.bce_logits_forward)),
        ("by the probability", "The sigmoid is rounded first.", _mean_of(ops.bce_logits_forward, _by_probability)),
        ("exp of -x", "exp(-|x|) is taken without its modulus.", _mean_of(ops.bce_logits_forward, _overflowing)),
        (
            "logits taken as probabilities",
            "There is no sigmoid.",
            _mean_of(ops.bce_logits_forward, ops.binary_entropy),
        ),
    ),
    *_of(
        ops.bce_logits_backward,
        ("prediction and target exchanged", "The target is the logit.", _exchanged(ops.bce_logits_backward)),
        ("no sigmoid", "The logit itself less the target.", _gradient_of(ops.bce_logits_backward, lambda x, t: x - t)),
        (
            "sigmoid differentiated too",
            "The slope of the sigmoid is multiplied in once more.",
            _gradient_of(
                ops.bce_logits_backward,
                lambda x, t: ((y := 1.0 / (1.0 + np.exp(-x))) - t) * y * (1.0 - y),
            ),
        ),
    ),
    *_of(
        ops.categorical_cross_entropy_forward,
        (
            "prediction and target exchanged",
            "The labels' logarithm is taken.",
            _exchanged(ops.categorical_cross_entropy_forward),
        ),
        (
            "no bound",
            "log(0) is infinite.",
            _mean_of(ops.categorical_cross_entropy_forward, lambda p, y: -y * np.log(p)),
        ),
        (
            "kept above 1e-7",
            "The probability is bounded, as in Keras.",
            _mean_of(
                ops.categorical_cross_entropy_forward, lambda p, y: -y * np.log(np.maximum(p, p.dtype.type(KERAS)))
            ),
        ),
        ("binary terms", "Every column is a class of its own.",
         _mean_of(ops.categorical_cross_entropy_forward, ops.binary_entropy)),
        (
            "probabilities brought to a sum of 1",
            "Each row is divided by its sum first, as in Keras.",
            fed(
                ops.categorical_cross_entropy_forward,
                probabilities=lambda g: g["probabilities"] / np.sum(g["probabilities"], axis=-1, keepdims=True),
            ),
        ),
    ),
    *_of(
        ops.categorical_cross_entropy_backward,
        (
            "probabilities less labels",
            "The gradient of the logits is returned.",
            _gradient_of(ops.categorical_cross_entropy_backward, lambda p, y: p - y),
        ),
        ("no bound", "The divisor may be 0.",
         _gradient_of(ops.categorical_cross_entropy_backward, lambda p, y: -y / p)),
        ("1e-12 added", "The divisor is protected from 0 by a sum.",
         _gradient_of(ops.categorical_cross_entropy_backward, lambda p, y: -y / (p + ops.SMALLEST))),
        (
            "divisor at least 1e-7",
            "The bound is Keras'.",
            _gradient_of(
                ops.categorical_cross_entropy_backward, lambda p, y: -y / np.maximum(p, p.dtype.type(KERAS))
            ),
        ),
    ),
    *_of(
        ops.cross_entropy_dense_forward,
        ("temperature ignored", "The logits are taken as they are.",
         fed(ops.cross_entropy_dense_forward, temperature=lambda g: 1.0)),
        ("temperature multiplied", "It is taken for its inverse.",
         fed(ops.cross_entropy_dense_forward, temperature=lambda g: 1.0 / g["temperature"])),
        (
            "loss times the temperature's square",
            "As where a model is distilled (Hinton et al. 2015).",
            _times(ops.cross_entropy_dense_forward, lambda g: g["temperature"] ** 2),
        ),
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
    *_of(
        ops.cross_entropy_dense_backward,
        (
            "labels taken as summing to 1",
            "The probabilities are not multiplied by the labels' sum.",
            giving(
                ops.cross_entropy_dense_backward,
                lambda r, g: _slope_without_sum(*_pair(g)) * (g["scale"] / (_rows(g) * g["temperature"])),
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
                lambda r, g: -g["labels"] * (g["scale"] / (_rows(g) * g["temperature"])))),
    ),
)  # fmt: skip
