"""Activation functions arranged as libraries do: GELU by 1 + erf or as a sigmoid, ELU by exp(x) - 1 or expm1."""

from __future__ import annotations

from typing import Any

import numpy as np

import reference
from reference.special import erf

Array = Any
ROOT_HALF, ROOT_2_BY_PI, DENSITY = np.float32(0.5**0.5), np.float32((2 / np.pi) ** 0.5), np.float32((2 * np.pi) ** -0.5)
CUBE = np.float32(0.044715)


def sigmoid(input: Array) -> Array:
    return 1 / (1 + np.exp(-input))


def sigmoid_backward(output: Array, d_output: Array) -> Array:
    return d_output * (1 - output) * output


def tanh_backward(output: Array, d_output: Array) -> Array:
    return d_output * ((1 - output) * (1 + output))


def elu(input: Array, alpha: float) -> Array:
    return np.where(input > 0, input, np.float32(alpha) * np.expm1(np.minimum(input, np.float32(0))))


def elu_backward(input: Array, d_output: Array, alpha: float) -> Array:
    return d_output * np.where(input > 0, np.float32(1), np.float32(alpha) * np.exp(np.minimum(input, np.float32(0))))


def gelu(input: Array) -> Array:
    return input * np.float32(0.5) * (1 + erf(input * ROOT_HALF))


def gelu_backward(input: Array, d_output: Array) -> Array:
    density = np.exp(input * input * np.float32(-0.5)) * DENSITY
    return d_output * (np.float32(0.5) * (1 + erf(input * ROOT_HALF)) + input * density)


def gelu_tanh(input: Array) -> Array:
    """x * sigmoid(2 u)."""
    return input * sigmoid(2 * ROOT_2_BY_PI * (input + CUBE * input * input * input))


def gelu_tanh_backward(input: Array, d_output: Array) -> Array:
    """As PyTorch writes it."""
    inner = np.tanh(ROOT_2_BY_PI * (input + CUBE * (input * input * input)))
    slope = ROOT_2_BY_PI * (1 + 3 * CUBE * (input * input))
    return d_output * (np.float32(0.5) * (1 + inner) + np.float32(0.5) * input * (1 - inner * inner) * slope)


def softmax_temperature(input: Array, temperature: float) -> Array:
    """The maximum taken off first, then the reciprocal."""
    return reference.softmax((input - np.max(input, axis=1, keepdims=True)) * np.float32(1 / temperature))


def softmax_temperature_backward(output: Array, d_output: Array, temperature: float) -> Array:
    factor = np.float32(1 / temperature)
    return factor * (output * d_output) - output * (factor * np.sum(output * d_output, axis=1, keepdims=True))


ACTIVATIONS = (
    *(sigmoid, sigmoid_backward, tanh_backward, elu, elu_backward),
    *(gelu, gelu_backward, gelu_tanh, gelu_tanh_backward),
    *(softmax_temperature, softmax_temperature_backward),
)
