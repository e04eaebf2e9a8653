"""The reference once more, for losses: means over an axis of which a few members are drawn, and their gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import reference
from conformance.limits.noise.counted import counted_sum
from reference.ops import losses

from .call import Placed

Array = Any
CarriedOut = Callable[..., Any]
Carry = Callable[[Placed], CarriedOut]


def _mean(terms: Array, member: Array) -> Array:
    """The sum of all terms, in one, over the axis's length: terms have the few members, and perhaps columns."""
    columns = terms.size // len(terms)
    everyone = (member[:, None] * columns + np.arange(columns)).reshape(-1)
    return (counted_sum(terms.reshape(-1), everyone) / float(member.size)).reshape(1)


def _forward(term: Callable[[Array, Array], Array], axis: str) -> Carry:
    return lambda places: lambda given, target: _mean(term(given, target), places[axis].member)


def dense_forward(places: Placed) -> CarriedOut:
    """The loss is a mean over rows; the logarithms are each row's own."""

    def function(logits: Array, labels: Array, temperature: float) -> tuple[Array, Array]:
        _, log_probs = reference.cross_entropy_dense_forward(logits, labels, temperature)
        return _mean(-labels * log_probs, places["rows"].member), log_probs

    return function


def _backward(operation: str, axis: str) -> Carry:
    """The divisor is the axis's whole length."""

    def carry(places: Placed) -> CarriedOut:
        def function(given: Array, target: Array, *scalars: float) -> Array:
            *others, scale = scalars
            share = len(target) / places[axis].member.size
            return getattr(reference, operation)(given, target, *others, scale * share)

        return function

    return carry


FORWARD = {
    "mse_forward": _forward(losses.squared_error, "n"),
    "bce_forward": _forward(losses.binary_entropy, "n"),
    "bce_logits_forward": _forward(losses.binary_entropy_of_logit, "n"),
    "categorical_cross_entropy_forward": _forward(losses.categorical_entropy, "rows"),
}
BACKWARD = {
    **{operation: _backward(operation, "n") for operation in ("mse_backward", "bce_backward", "bce_logits_backward")},
    "categorical_cross_entropy_backward": _backward("categorical_cross_entropy_backward", "rows"),
    "cross_entropy_dense_backward": _backward("cross_entropy_dense_backward", "rows"),
}
