"""Wrong readings of the dense layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reference.arrays import Array
from reference.ops import activations
from reference.ops import broadcast as ops

from .reading import Given, Reading, as_stored, fed, giving, without_tail

RELU, LEAKY_RELU, ELU, SIGMOID, TANH, GELU, GELU_TANH = range(1, 8)  # as the header numbers them


def activated(pre: Array, g: Given) -> Array:
    return ops.ACTIVATIONS[g["activation"]][0](pre, g["alpha"])


def _with_pre(change: Callable[[Array, Given], Array]) -> Callable[..., Any]:
    """The layer with another pre, and what follows from it."""

    def changed(r: Any, g: Given) -> Any:
        pre = change(r[0], g)
        return pre, activated(pre, g)

    return giving(ops.dense, changed)


def _with_output(change: Callable[[Any, Given], Array]) -> Callable[..., Any]:
    return giving(ops.dense, lambda r, g: (r[0], change(r, g)))


def _with_function(replaced: int, function: Callable[[Array, float], Array]) -> Callable[..., Any]:
    """Another function for one of the numbers."""
    return _with_output(lambda r, g: function(r[0], g["alpha"]) if g["activation"] == replaced else r[1])


def _bias_by_row(pre: Array, g: Given) -> Array:
    if not g["has_bias"]:
        return pre
    return ops.add_column(pre - g["bias"], np.resize(g["bias"], pre.shape[0]))


def _without_bias(pre: Array, g: Given) -> Array:
    return g["input"] @ g["weight"].T


def _bias_always(r: Any, g: Given) -> Any:
    pre = r[0] if g["has_bias"] else r[0] + g["bias"]
    return pre, activated(pre, g)


def _bias_after(r: Any, g: Given) -> Any:
    if not g["has_bias"]:
        return r
    pre = g["input"] @ g["weight"].T
    return pre, activated(pre, g) + g["bias"]


def not_transposed(given: Given) -> Array:
    rows, cols = given["weight"].shape
    return np.copy(as_stored(given["weight"], cols, rows).T, order="C")


def _dense(name: str, why: str, function: Callable[..., Any]) -> Reading:
    return Reading("dense", name, why, function)


def _relu_of_all(r: Any, g: Given) -> Array:
    return activations.relu(r[0])


READINGS = (
    _dense("bias by row", "A bias to each row, not to each column.", _with_pre(_bias_by_row)),
    _dense("bias left out", "Only multiplied.", _with_pre(_without_bias)),
    _dense("has_bias ignored", "The bias is added where there is none, too.", giving(ops.dense, _bias_always)),
    _dense(
        "bias added behind f",
        "f of the product alone, the bias added to what it gives.",
        giving(ops.dense, _bias_after),
    ),
    _dense(
        "bias in output alone",
        "pre is stored before the bias is added.",
        giving(ops.dense, lambda r, g: (g["input"] @ g["weight"].T, r[1])),
    ),
    _dense("weight stored the other way", "in x out, not transposed.", fed(ops.dense, weight=not_transposed)),
    _dense("activation ignored", "output = pre.", _with_output(lambda r, g: r[0] + 0)),
    _dense("ReLU whatever the number", "The first activation anyone writes.", _with_output(_relu_of_all)),
    _dense("f stored in pre", "The activation is applied in place.", giving(ops.dense, lambda r, g: (r[1], r[1]))),
    _dense("f applied twice", "To what it has given already.", _with_output(lambda r, g: activated(r[1], g))),
    _dense(
        "numbered without linear",
        "Activation 0 is ReLU, and so on.",
        _with_output(lambda r, g: ops.ACTIVATIONS[(g["activation"] + 1) % 8][0](r[0], g["alpha"])),
    ),
    _dense(
        "GELU by tanh", "One GELU for both numbers.", _with_function(GELU, lambda x, alpha: activations.gelu_tanh(x))
    ),
    _dense(
        "GELU by erf", "One GELU for both numbers.", _with_function(GELU_TANH, lambda x, alpha: activations.gelu(x))
    ),
    _dense(
        "SiLU in GELU's place",
        "x * sigmoid(1.702 x).",
        _with_function(GELU, lambda x, alpha: x * activations.sigmoid(1.702 * x)),
    ),
    _dense(
        "leaky ReLU's alpha 0.01",
        "A usual slope, whatever alpha is.",
        _with_function(LEAKY_RELU, lambda x, alpha: activations.leaky_relu(x, 0.01)),
    ),
    _dense(
        "leaky ReLU as the larger of x and alpha * x",
        "The same while alpha is not above 1.",
        _with_function(LEAKY_RELU, lambda x, alpha: np.maximum(x, alpha * x)),
    ),
    _dense("leaky ReLU without alpha", "A ReLU.", _with_function(LEAKY_RELU, lambda x, alpha: activations.relu(x))),
    _dense(
        "ELU's alpha 1",
        "The usual one, whatever alpha is.",
        _with_function(ELU, lambda x, alpha: activations.elu(x, 1.0)),
    ),
    _dense(
        "sigmoid and tanh exchanged",
        "Two functions that level out.",
        _with_output(
            lambda r, g: {SIGMOID: activations.tanh, TANH: activations.sigmoid}.get(
                g["activation"], lambda x: activated(x, g)
            )(r[0])
        ),
    ),
    _dense("tail left out", "Nothing past the last whole vector of four.", giving(ops.dense, without_tail)),
)
