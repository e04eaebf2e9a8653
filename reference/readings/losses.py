"""Wrong readings of the squared error, and of the binary cross entropy of probabilities and of logits."""

from __future__ import annotations

import numpy as np

from reference.arrays import Array
from reference.ops import losses as ops

from .means import KERAS, common, exchanged, gradient_of, mean_of, readings_of, rows
from .reading import giving


def _entropy(p: Array, t: Array) -> Array:
    return -(t * np.log(p) + (1.0 - t) * np.log(1.0 - p))


def _kept_inside(p: Array, t: Array) -> Array:
    return _entropy(np.minimum(np.maximum(p, p.dtype.type(KERAS)), p.dtype.type(1 - KERAS)), t)


def _of_smallest(p: Array, t: Array) -> Array:
    least = p.dtype.type(ops.SMALLEST)
    return -(t * np.log(np.maximum(p, least)) + (1.0 - t) * np.log(np.maximum(1.0 - p, least)))


def _with_little_more(p: Array, t: Array) -> Array:
    return -(t * np.log(p + 1e-8) + (1.0 - t) * np.log(1.0 - p + 1e-8))


def _by_probability(x: Array, t: Array) -> Array:
    """The probability rounds to 0 or 1."""
    return ops.binary_entropy(1.0 / (1.0 + np.exp(-x)), t)


def _overflowing(x: Array, t: Array) -> Array:
    return x - x * t + np.log(1.0 + np.exp(-x))


def _first_term(p: Array, t: Array) -> Array:
    return ops.categorical_entropy(p, t)


READINGS = (
    *(reading for name in ("mse", "bce", "bce_logits") for reading in common(name, rows)),
    *readings_of(
        ops.mse_forward,
        ("absolute error", "The difference is not squared.", mean_of(ops.mse_forward, lambda p, t: np.abs(p - t))),
        ("root", "The root of the mean is returned.", giving(ops.mse_forward, lambda r, g: np.sqrt(r))),
        (
            "squares apart",
            "p^2 - t^2 is taken for (p - t)^2.",
            mean_of(ops.mse_forward, lambda p, t: p * p - t * t),
        ),
    ),
    *readings_of(
        ops.bce_forward,
        ("prediction and target exchanged", "The target's logarithm is taken.", exchanged(ops.bce_forward)),
        ("no bound", "log(0) is infinite.", mean_of(ops.bce_forward, _entropy)),
        ("kept 1e-7 from 0 and 1", "The probability is bounded, as in Keras.", mean_of(ops.bce_forward, _kept_inside)),
        ("logarithm of 1e-12 at least", "The bound of the divisor is taken.", mean_of(ops.bce_forward, _of_smallest)),
        ("1e-8 added", "The logarithm is protected from 0.", mean_of(ops.bce_forward, _with_little_more)),
        ("second term missing", "The categorical entropy.", mean_of(ops.bce_forward, _first_term)),
    ),
    *readings_of(
        ops.bce_backward,
        ("prediction and target exchanged", "The target is in the divisor.", exchanged(ops.bce_backward)),
        ("not divided by p (1 - p)", "That of the logit.", gradient_of(ops.bce_backward, lambda p, t: p - t)),
        ("no bound", "The divisor may be 0.", gradient_of(ops.bce_backward, lambda p, t: (p - t) / (p * (1.0 - p)))),
        (
            "1e-12 added",
            "The divisor is protected from 0 by a sum.",
            gradient_of(ops.bce_backward, lambda p, t: (p - t) / (p * (1.0 - p) + ops.SMALLEST)),
        ),
        (
            "divisor at least 1e-7",
            "The bound is Keras'.",
            gradient_of(ops.bce_backward, lambda p, t: (p - t) / np.maximum(p * (1.0 - p), p.dtype.type(KERAS))),
        ),
        (
            "either quotient bounded",
            "Both terms are differentiated, and each is bounded.",
            gradient_of(
                ops.bce_backward,
                lambda p, t: (1.0 - t) / np.maximum(1.0 - p, ops.SMALLEST) - t / np.maximum(p, ops.SMALLEST),
            ),
        ),
    ),
    *readings_of(
        ops.bce_logits_forward,
        ("prediction and target exchanged", "The target is the logit.", exchanged(ops.bce_logits_forward)),
        ("by the probability", "The sigmoid is rounded first.", mean_of(ops.bce_logits_forward, _by_probability)),
        ("exp of -x", "exp(-|x|) is taken without its modulus.", mean_of(ops.bce_logits_forward, _overflowing)),
        (
            "logits taken as probabilities",
            "There is no sigmoid.",
            mean_of(ops.bce_logits_forward, ops.binary_entropy),
        ),
    ),
    *readings_of(
        ops.bce_logits_backward,
        ("prediction and target exchanged", "The target is the logit.", exchanged(ops.bce_logits_backward)),
        ("no sigmoid", "The logit itself less the target.", gradient_of(ops.bce_logits_backward, lambda x, t: x - t)),
        (
            "sigmoid differentiated too",
            "The slope of the sigmoid is multiplied in once more.",
            gradient_of(
                ops.bce_logits_backward,
                lambda x, t: ((y := 1.0 / (1.0 + np.exp(-x))) - t) * y * (1.0 - y),
            ),
        ),
    ),
)  # fmt: skip
