"""Activation functions of networks outside the transformer, and softmax with a temperature.

Arrays of one call have one shape; that of an elementwise operation may be any.
"""

from __future__ import annotations

import numpy as np

from reference.arrays import Array, check, check_same_shape, ieee
from reference.special import erfc

from .blocks import by_elements
from .elementwise import logistic
from .softmax import softmax, softmax_backward

ROOT_2, ROOT_2_PI = float(np.sqrt(2.0)), float(np.sqrt(2.0 * np.pi))
TANH_FACTOR, CUBE_FACTOR = float(np.sqrt(2.0 / np.pi)), 0.044715  # of GELU by tanh
# Past these tanh is 1, and exp(-x^2 / 2) is 0, to the last bit of float64: no square or cube need be larger.
TANH_END, NORMAL_END = 16.0, 64.0


@ieee
def relu(input: Array) -> Array:
    """max(input, 0); NaN stays NaN."""
    return np.maximum(input, 0.0)


@ieee
def relu_backward(input: Array, d_output: Array) -> Array:
    """Gradient of relu: 0 where input <= 0, else d_output."""
    check_same_shape("relu_backward", input=input, d_output=d_output)
    return np.where(input <= 0, 0.0, d_output)


@ieee
def leaky_relu(input: Array, alpha: float) -> Array:
    """input where it is above 0, else alpha * input (Maas, Hannun and Ng 2013)."""
    return np.where(input > 0, input, alpha * input)


@ieee
def leaky_relu_backward(input: Array, d_output: Array, alpha: float) -> Array:
    """Gradient of leaky_relu: d_output where input is above 0, else alpha * d_output."""
    check_same_shape("leaky_relu_backward", input=input, d_output=d_output)
    return np.where(input > 0, d_output, alpha * d_output)


@ieee
def elu(input: Array, alpha: float) -> Array:
    """input where it is above 0, else alpha * (exp(input) - 1) (Clevert, Unterthiner and Hochreiter 2015)."""
    return by_elements(lambda x: np.where(x > 0, x, alpha * (np.exp(np.minimum(x, 0.0)) - 1.0)), input)


@ieee
def elu_backward(input: Array, d_output: Array, alpha: float) -> Array:
    """Gradient of elu: d_output where input is above 0, else d_output * alpha * exp(input)."""
    check_same_shape("elu_backward", input=input, d_output=d_output)
    return by_elements(lambda x, d: np.where(x > 0, d, d * alpha * np.exp(np.minimum(x, 0.0))), input, d_output)


@ieee
def sigmoid(input: Array) -> Array:
    """1 / (1 + exp(-input))."""
    return by_elements(logistic, input)


@ieee
def sigmoid_backward(output: Array, d_output: Array) -> Array:
    """Gradient of sigmoid from its output: d_output * y * (1 - y)."""
    check_same_shape("sigmoid_backward", output=output, d_output=d_output)
    return by_elements(lambda y, d: d * y * (1.0 - y), output, d_output)


@ieee
def tanh(input: Array) -> Array:
    """The hyperbolic tangent."""
    return np.tanh(input)


@ieee
def tanh_backward(output: Array, d_output: Array) -> Array:
    """Gradient of tanh from its output: d_output * (1 - y^2)."""
    check_same_shape("tanh_backward", output=output, d_output=d_output)
    return by_elements(lambda y, d: d * (1.0 - y * y), output, d_output)


def _normal(x: Array) -> Array:
    """The normal distribution: (1 + erf(x / sqrt(2))) / 2, without cancellation below 0."""
    return 0.5 * erfc(-x / ROOT_2)


@ieee
def gelu(input: Array) -> Array:
    """input * Phi(input), Phi the normal distribution (Hendrycks and Gimpel 2016)."""
    return by_elements(lambda x: x * _normal(x), input)


@ieee
def gelu_backward(input: Array, d_output: Array) -> Array:
    """Gradient of gelu: d_output * (Phi(x) + x * phi(x)), phi the normal density."""
    check_same_shape("gelu_backward", input=input, d_output=d_output)
    return by_elements(_gelu_backward, input, d_output)


def _gelu_backward(x: Array, d_output: Array) -> Array:
    near = _within(x, NORMAL_END)
    return d_output * (_normal(x) + x * (np.exp(near * near * -0.5) / ROOT_2_PI))


@ieee
def gelu_tanh(input: Array) -> Array:
    """input / 2 * (1 + tanh(sqrt(2 / pi) * (input + 0.044715 * input^3))) (Hendrycks and Gimpel 2016)."""
    return by_elements(lambda x: 0.5 * x * (1.0 + _inner_tanh(x)), input)


@ieee
def gelu_tanh_backward(input: Array, d_output: Array) -> Array:
    """Gradient of gelu_tanh."""
    check_same_shape("gelu_tanh_backward", input=input, d_output=d_output)
    return by_elements(_gelu_tanh_backward, input, d_output)


def _gelu_tanh_backward(x: Array, d_output: Array) -> Array:
    t = _inner_tanh(x)
    slope = TANH_FACTOR * (1.0 + 3.0 * CUBE_FACTOR * (x * x))
    return d_output * (0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * slope)


def _inner_tanh(x: Array) -> Array:
    near = _within(x, TANH_END)
    return np.tanh(TANH_FACTOR * (near + CUBE_FACTOR * (near * near * near)))


def _within(x: Array, end: float) -> Array:
    """x, or the nearer of -end and end where it lies beyond."""
    return np.minimum(np.maximum(x, -end), end)


@ieee
def softmax_temperature(input: Array, temperature: float) -> Array:
    """softmax(input / temperature), row-wise. input: (rows, cols). Raises ValueError unless temperature > 0."""
    check(temperature > 0, "softmax_temperature", "temperature", "temperature > 0", temperature)
    return softmax(input / temperature)


@ieee
def softmax_temperature_backward(output: Array, d_output: Array, temperature: float) -> Array:
    """y * (d_output - sum(y * d_output)) / temperature, row-wise, y = output: (rows, cols).

    Raises ValueError unless temperature > 0.
    """
    check_same_shape("softmax_temperature_backward", output=output, d_output=d_output)
    check(temperature > 0, "softmax_temperature_backward", "temperature", "temperature > 0", temperature)
    return softmax_backward(output, d_output) / temperature
