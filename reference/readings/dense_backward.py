"""Wrong readings of the dense layer's gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reference.arrays import Array, accumulate
from reference.ops import activations
from reference.ops import broadcast as ops

from .dense import ELU, GELU, GELU_TANH, LEAKY_RELU, RELU, SIGMOID, TANH, activated, not_transposed
from .reading import Given, Reading, as_stored, fed, giving, without_tail


def _slope(change: Callable[[Given], Array]) -> Callable[..., Any]:
    """The gradient with another d_pre, and what follows from it."""

    def changed(r: Any, g: Given) -> Any:
        return _of_d_pre(change(g), g)

    return giving(ops.dense_backward, changed)


def _of_d_pre(d_pre: Array, g: Given) -> Any:
    return (
        d_pre,
        d_pre @ g["weight"],
        accumulate(d_pre.T @ g["input"], g["d_weight"], g["beta"]),
        accumulate(np.sum(d_pre, axis=0), g["d_bias"], g["beta"]),
    )


def _slope_at(point: Callable[[Given], Array], d_output: Callable[[Given], Array] | None = None) -> Callable[..., Any]:
    def d_pre(g: Given) -> Array:
        d = d_output(g) if d_output else g["d_output"]
        return ops.ACTIVATIONS[g["activation"]][1](point(g), d, g["alpha"])

    return _slope(d_pre)


def _of_one(replaced: int, slope: Callable[[Array, Array, float], Array]) -> Callable[..., Any]:
    """Another gradient for one of the numbers."""

    def d_pre(g: Given) -> Array:
        pre, d, alpha = g["pre"], g["d_output"], g["alpha"]
        return (
            slope(pre, d, alpha) if g["activation"] == replaced else ops.ACTIVATIONS[g["activation"]][1](pre, d, alpha)
        )

    return _slope(d_pre)


def _straight_from_output(place: int) -> Callable[..., Any]:
    """One of the results from d_output in place of d_pre."""

    def changed(r: Any, g: Given) -> Any:
        return (*r[:place], _of_d_pre(g["d_output"], g)[place], *r[place + 1 :])

    return giving(ops.dense_backward, changed)


def _bias_along_rows(r: Any, g: Given) -> Any:
    sums = np.resize(np.sum(r[0], axis=1), r[3].shape)
    return (*r[:3], accumulate(sums, g["d_bias"], g["beta"]))


def _averaged(r: Any, g: Given) -> Any:
    rows = r[0].dtype.type(len(r[0]))
    d_weight, d_bias = r[0].T @ g["input"] / rows, np.sum(r[0], axis=0) / rows
    return (*r[:2], accumulate(d_weight, g["d_weight"], g["beta"]), accumulate(d_bias, g["d_bias"], g["beta"]))


def _last_row(r: Any, g: Given) -> Any:
    return (*r[:3], accumulate(r[0][-1], g["d_bias"], g["beta"]))


def _not_turned(r: Any, g: Given) -> Any:
    """input^T . d_pre, in x out, taken for out x in."""
    d_weight = as_stored(np.copy(g["input"].T @ r[0], order="C"), *r[2].shape)
    return (*r[:2], accumulate(d_weight, g["d_weight"], g["beta"]), r[3])


def _only(place: int, beta: float) -> Callable[..., Any]:
    """One of the results with another beta."""

    def changed(r: Any, g: Given) -> Any:
        return (*r[:place], ops.dense_backward(**(g | {"beta": beta}))[place], *r[place + 1 :]) if g["beta"] else r

    return giving(ops.dense_backward, changed)


def _back(name: str, why: str, function: Callable[..., Any]) -> Reading:
    return Reading("dense_backward", name, why, function)


READINGS = (
    _back("f' left out", "d_pre is d_output.", _slope(lambda g: g["d_output"] + 0)),
    _back(
        "f' at the output", "The slope is taken where f(pre) is, not pre.", _slope_at(lambda g: activated(g["pre"], g))
    ),
    _back(
        "f in place of f'",
        "d_output times the activation itself.",
        _slope(lambda g: g["d_output"] * activated(g["pre"], g)),
    ),
    _back(
        "f' twice",
        "d_pre is multiplied by the slope once more.",
        _slope_at(
            lambda g: g["pre"], lambda g: ops.ACTIVATIONS[g["activation"]][1](g["pre"], g["d_output"], g["alpha"])
        ),
    ),
    _back(
        "pre taken for sigmoid's output",
        "pre * (1 - pre).",
        _of_one(SIGMOID, lambda x, d, alpha: activations.sigmoid_backward(x, d)),
    ),
    _back(
        "pre taken for tanh's output", "1 - pre^2.", _of_one(TANH, lambda x, d, alpha: activations.tanh_backward(x, d))
    ),
    _back(
        "GELU by tanh",
        "One GELU for both numbers.",
        _of_one(GELU, lambda x, d, alpha: activations.gelu_tanh_backward(x, d)),
    ),
    _back(
        "GELU by erf",
        "One GELU for both numbers.",
        _of_one(GELU_TANH, lambda x, d, alpha: activations.gelu_backward(x, d)),
    ),
    _back(
        "leaky ReLU without alpha",
        "A ReLU's slope.",
        _of_one(LEAKY_RELU, lambda x, d, alpha: activations.relu_backward(x, d)),
    ),
    _back(
        "leaky ReLU's alpha 0.01",
        "A usual slope, whatever alpha is.",
        _of_one(LEAKY_RELU, lambda x, d, alpha: activations.leaky_relu_backward(x, d, 0.01)),
    ),
    _back(
        "ELU's alpha 1",
        "The usual one, whatever alpha is.",
        _of_one(ELU, lambda x, d, alpha: activations.elu_backward(x, d, 1.0)),
    ),
    _back(
        "slope of ReLU 1 at 0", "x >= 0 passes.", _of_one(RELU, lambda x, d, alpha: np.where(x < 0, d.dtype.type(0), d))
    ),
    _back(
        "gate on d_output",
        "ReLU's gate is the gradient's own sign.",
        _of_one(RELU, lambda x, d, alpha: activations.relu_backward(d, d)),
    ),
    _back(
        "ReLU whatever the number",
        "The first activation anyone writes.",
        _slope(lambda g: activations.relu_backward(g["pre"], g["d_output"])),
    ),
    _back("d_input from d_output", "The slope is missing in it alone.", _straight_from_output(1)),
    _back("d_weight from d_output", "The slope is missing in it alone.", _straight_from_output(2)),
    _back("d_bias from d_output", "The slope is missing in it alone.", _straight_from_output(3)),
    _back("d_bias along rows", "The sum is over columns.", giving(ops.dense_backward, _bias_along_rows)),
    _back(
        "gradients averaged",
        "d_weight and d_bias are divided by the number of rows.",
        giving(ops.dense_backward, _averaged),
    ),
    _back(
        "d_bias assigned row by row",
        "Each row is stored over the one before it.",
        giving(ops.dense_backward, _last_row),
    ),
    _back("d_weight in x out", "input^T . d_pre.", giving(ops.dense_backward, _not_turned)),
    _back("weight stored the other way", "in x out, not transposed.", fed(ops.dense_backward, weight=not_transposed)),
    _back(
        "gradients assigned", "beta is ignored: nothing is accumulated.", fed(ops.dense_backward, beta=lambda g: 0.0)
    ),
    _back("d_weight assigned", "beta is ignored in it alone.", _only(2, 0.0)),
    _back("d_bias assigned", "beta is ignored in it alone.", _only(3, 0.0)),
    _back("d_bias always added", "beta is taken as 1 in it.", _only(3, 1.0)),
    _back("tail left out", "Nothing past the last whole vector of four.", giving(ops.dense_backward, without_tail)),
)
