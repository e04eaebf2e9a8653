"""Wrong readings of the activation functions; those of GELU stand in gelu.py."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reference.arrays import Array
from reference.ops import activations as ops

from .reading import Reading, fed, giving, without_tail

ELEMENTWISE: tuple[Callable[..., Array], ...] = (
    *(ops.relu, ops.relu_backward, ops.leaky_relu, ops.leaky_relu_backward, ops.elu, ops.elu_backward),
    *(ops.sigmoid, ops.sigmoid_backward, ops.tanh, ops.tanh_backward),
    *(ops.gelu, ops.gelu_backward, ops.gelu_tanh, ops.gelu_tanh_backward),
)


BENT = (
    Reading("relu", "absolute value", "The sign is dropped.", lambda input: np.abs(input)),
    Reading("relu", "cut off at 6", "As ReLU6 of mobile networks is.", lambda input: np.clip(input, 0, 6)),
    Reading("relu", "leaky", "A hundredth is left below 0.", lambda input: np.maximum(input, 0.01 * input)),
    Reading(
        "relu",
        "NaN becomes 0",
        "input > 0 is asked, which a NaN is not.",
        lambda input: np.where(input > 0, input, 0.0),
    ),
    Reading(
        "relu_backward",
        "1 at 0",
        "The gradient passes where the input is exactly 0.",
        lambda input, d_output: np.where(input < 0, 0.0, d_output),
    ),
    Reading(
        "relu_backward",
        "gate on d_output",
        "The gradient's own sign is looked at.",
        lambda input, d_output: np.where(d_output <= 0, 0.0, d_output),
    ),
    Reading(
        "relu_backward",
        "gate on both",
        "As in guided back-propagation, which draws pictures.",
        lambda input, d_output: np.where((input <= 0) | (d_output <= 0), 0.0, d_output),
    ),
    Reading("relu_backward", "no gate", "The gradient is handed on.", lambda input, d_output: d_output + 0.0),
    Reading(
        "relu_backward",
        "0 at NaN",
        "input > 0 is asked, which a NaN is not.",
        lambda input, d_output: np.where(input > 0, d_output, 0.0),
    ),
    Reading("leaky_relu", "ReLU", "Nothing is left below 0.", lambda input, alpha: ops.relu(input)),
    Reading(
        "leaky_relu",
        "alpha above 0",
        "The branches are exchanged.",
        lambda input, alpha: np.where(input > 0, alpha * input, input),
    ),
    Reading(
        "leaky_relu",
        "larger of x and alpha * x",
        "The same while alpha is not above 1.",
        lambda input, alpha: np.maximum(input, alpha * input),
    ),
    Reading("leaky_relu", "alpha 0.01", "The usual default is built in.", fed(ops.leaky_relu, alpha=lambda g: 0.01)),
    Reading("leaky_relu", "minus alpha", "The slope falls below 0.", fed(ops.leaky_relu, alpha=lambda g: -g["alpha"])),
    Reading(
        "leaky_relu_backward",
        "ReLU",
        "Nothing is left below 0.",
        lambda input, d_output, alpha: ops.relu_backward(input, d_output),
    ),
    Reading(
        "leaky_relu_backward",
        "gate on d_output",
        "The gradient's own sign is looked at.",
        fed(ops.leaky_relu_backward, input=lambda g: g["d_output"]),
    ),
    Reading(
        "leaky_relu_backward",
        "alpha above 0",
        "The branches are exchanged.",
        lambda input, d_output, alpha: np.where(input > 0, alpha * d_output, d_output),
    ),
    Reading(
        "leaky_relu_backward",
        "1 at 0",
        "The gradient passes whole where the input is exactly 0.",
        lambda input, d_output, alpha: np.where(input >= 0, d_output, alpha * d_output),
    ),
    Reading(
        "leaky_relu_backward",
        "alpha 0.01",
        "The usual default is built in.",
        fed(ops.leaky_relu_backward, alpha=lambda g: 0.01),
    ),
)

CURVED = (
    Reading("elu", "alpha left out", "The constant is taken for 1.", fed(ops.elu, alpha=lambda g: 1.0)),
    Reading(
        "elu",
        "alpha inside the exponential",
        "exp(alpha * x) - 1.",
        lambda input, alpha: np.where(input > 0, input, np.exp(np.minimum(alpha * input, 80.0)) - 1.0),
    ),
    Reading(
        "elu",
        "1 not subtracted",
        "alpha * exp(x) below 0.",
        lambda input, alpha: np.where(input > 0, input, alpha * np.exp(np.minimum(input, 0.0))),
    ),
    Reading(
        "elu",
        "1 subtracted after alpha",
        "alpha * exp(x) - 1.",
        lambda input, alpha: np.where(input > 0, input, alpha * np.exp(np.minimum(input, 0.0)) - 1.0),
    ),
    Reading("elu", "SELU", "Scaled by its constant.", lambda input, alpha: 1.0507009873554805 * ops.elu(input, alpha)),
    Reading(
        "elu",
        "CELU",
        "The input is divided by alpha in the exponential.",
        lambda input, alpha: np.where(input > 0, input, alpha * (np.exp(np.minimum(input / alpha, 80.0)) - 1.0)),
    ),
    Reading(
        "elu_backward",
        "y + 1",
        "The derivative by the output, as it is for alpha = 1 alone.",
        lambda input, d_output, alpha: np.where(input > 0, d_output, d_output * (ops.elu(input, alpha) + 1.0)),
    ),
    Reading("elu_backward", "alpha left out", "It is taken for 1.", fed(ops.elu_backward, alpha=lambda g: 1.0)),
    Reading(
        "elu_backward",
        "1 subtracted",
        "The function in place of its derivative.",
        lambda input, d_output, alpha: np.where(input > 0, d_output, d_output * ops.elu(np.minimum(input, 0.0), alpha)),
    ),
    Reading(
        "elu_backward",
        "output taken for the input",
        "The exponential of what the forward pass gave.",
        fed(ops.elu_backward, input=lambda g: ops.elu(g["input"], g["alpha"])),
    ),
    Reading("sigmoid", "sign of the exponent", "exp(x) where exp(-x) is meant.", lambda input: ops.sigmoid(-input)),
    Reading("sigmoid", "hard sigmoid", "Straight between 0 and 1.", lambda input: np.clip(0.2 * input + 0.5, 0, 1)),
    Reading("sigmoid", "tanh", "Another function of the same shape.", lambda input: np.tanh(input)),
    Reading("sigmoid", "SiLU", "The input is multiplied in.", lambda input: input * ops.sigmoid(input)),
    Reading(
        "sigmoid",
        "exp(x) / (1 + exp(x))",
        "No number from 89 on, where the exponential overflows.",
        lambda input: np.exp(input) / (1.0 + np.exp(input)),
    ),
    Reading(
        "sigmoid_backward",
        "output taken for the input",
        "The sigmoid is computed once more.",
        fed(ops.sigmoid_backward, output=lambda g: ops.sigmoid(g["output"])),
    ),
    Reading("sigmoid_backward", "y missing", "d_output * (1 - y).", lambda output, d_output: d_output * (1.0 - output)),
    Reading("sigmoid_backward", "derivative of tanh", "d_output * (1 - y^2).", ops.tanh_backward),
    Reading(
        "sigmoid_backward",
        "d_output missing",
        "The chain rule's outer factor is left out.",
        fed(ops.sigmoid_backward, d_output=lambda g: np.ones_like(g["d_output"])),
    ),
    Reading("tanh", "sigmoid", "Another function of the same shape.", ops.sigmoid),
    Reading("tanh", "hard tanh", "Straight between -1 and 1.", lambda input: np.clip(input, -1, 1)),
    Reading("tanh", "scaled", "LeCun's 1.7159 tanh(2 / 3 x).", lambda input: 1.7159 * np.tanh(input * (2.0 / 3.0))),
    Reading(
        "tanh",
        "difference of exponentials",
        "(exp(2 x) - 1) / (exp(2 x) + 1) is no number where exp overflows.",
        lambda input: (np.exp(2.0 * input) - 1.0) / (np.exp(2.0 * input) + 1.0),
    ),
    Reading(
        "tanh",
        "2 sigmoid(2 x) - 1",
        "What is left of the difference has few digits near 0.",
        lambda input: 2.0 * ops.sigmoid(2.0 * input) - 1.0,
    ),
    Reading("tanh_backward", "y not squared", "1 - y.", lambda output, d_output: d_output * (1.0 - output)),
    Reading("tanh_backward", "derivative of the sigmoid", "d_output * y * (1 - y).", ops.sigmoid_backward),
    Reading(
        "tanh_backward",
        "output taken for the input",
        "tanh is computed once more.",
        fed(ops.tanh_backward, output=lambda g: np.tanh(g["output"])),
    ),
    Reading(
        "tanh_backward",
        "d_output missing",
        "The chain rule's outer factor is left out.",
        fed(ops.tanh_backward, d_output=lambda g: np.ones_like(g["d_output"])),
    ),
)


READINGS = (
    *(
        Reading(
            function.__name__,
            "tail left out",
            "The loop takes four elements at once and stops before the rest.",
            giving(function, without_tail),
        )
        for function in ELEMENTWISE
    ),
    *BENT,
    *CURVED,
)
