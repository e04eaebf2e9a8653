"""How any loss that is a mean can be misread, and its gradient: what the tables of single losses are made with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from reference.arrays import Array
from reference.ops import losses as ops

from .reading import Given, Reading, fed, giving, without_tail

Function: TypeAlias = Callable[..., Any]
Term: TypeAlias = Callable[[Array, Array], Array]
KERAS = 1e-7  # by which Keras keeps probabilities from 0 and 1


def pair(g: Given) -> tuple[Array, Array]:
    """The prediction and its target, which come first in every loss."""
    first, second, *_ = g.values()
    return first, second


def rows(g: Given) -> int:
    return len(pair(g)[0])


def times(operation: Function, factor: Callable[[Given], float]) -> Function:
    """The loss, or the gradient, times a factor; log_probs as they are."""

    def change(results: Any, g: Given) -> Any:
        return (results[0] * factor(g), results[1]) if isinstance(results, tuple) else results * factor(g)

    return giving(operation, change)


def exchanged(operation: Function) -> Function:
    """Prediction and target in each other's place."""

    def change(_: Any, g: Given) -> Any:
        (first, a), (second, b), *others = g.items()
        return operation(**{first: b, second: a, **dict(others)})

    return giving(operation, change)


def mean_of(operation: Function, term: Term) -> Function:
    """The mean of other terms, over rows where there are rows."""
    return giving(operation, lambda r, g: np.sum(term(*pair(g)).reshape(-1), keepdims=True) / rows(g))


def gradient_of(operation: Function, slope: Term) -> Function:
    """Another slope, scaled and divided as the operation's."""
    return giving(operation, lambda r, g: slope(*pair(g)) * (g["scale"] / rows(g)))


def common(name: str, factor: Callable[[Given], float]) -> tuple[Reading, ...]:
    """What can be misread of every loss; factor: what its divisor is."""
    forward, backward = getattr(ops, f"{name}_forward"), getattr(ops, f"{name}_backward")
    return (
        Reading(f"{name}_forward", "sum in place of the mean", "The terms are added up.", times(forward, factor)),
        Reading(f"{name}_forward", "sign reversed", "What is maximised is returned.", times(forward, lambda g: -1.0)),
        Reading(f"{name}_forward", "half of it", "A half stands before the sum.", times(forward, lambda g: 0.5)),
        Reading(f"{name}_backward", "not divided", "The gradient of the sum is returned.", times(backward, factor)),
        Reading(f"{name}_backward", "scale ignored", "The gradient of the mean alone.",
                fed(backward, scale=lambda g: 1.0)),
        Reading(f"{name}_backward", "sign reversed", "Target less prediction.", giving(backward, lambda r, g: -r)),
        Reading(f"{name}_backward", "half of it", "A half stands before the sum.", times(backward, lambda g: 0.5)),
        Reading(f"{name}_backward", "tail left out", "The loop takes four at once and stops before the rest.",
                giving(backward, without_tail)),
    )  # fmt: skip


def readings_of(operation: Function, *readings: tuple[str, str, Function]) -> tuple[Reading, ...]:
    return tuple(Reading(operation.__name__, name, why, function) for name, why, function in readings)
