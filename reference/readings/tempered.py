"""Wrong readings of softmax with a temperature."""

from __future__ import annotations

import numpy as np

from reference.arrays import Array
from reference.ops import activations as ops
from reference.ops.softmax import softmax

from .reading import Reading, fed, giving
from .softmax import FROM_0, maximum_from_0, of_the_weighted


def _over_sum(exponentials: Array) -> Array:
    return exponentials / np.sum(exponentials, axis=-1, keepdims=True)


READINGS = (
    Reading(
        "softmax_temperature",
        "temperature multiplied",
        "Inverse temperature.",
        lambda input, temperature: softmax(input * temperature),
    ),
    Reading("softmax_temperature", "temperature ignored", "Plain softmax.", lambda input, temperature: softmax(input)),
    Reading(
        "softmax_temperature",
        "temperature applied after",
        "The probabilities are divided.",
        lambda input, temperature: softmax(input) / temperature,
    ),
    Reading(
        "softmax_temperature",
        "column-wise",
        "The other axis is normalised.",
        lambda input, temperature: ops.softmax_temperature(input.T, temperature).T,
    ),
    Reading(
        "softmax_temperature",
        "maximum not divided",
        "exp(x / temperature - max(x)) overflows at small temperatures.",
        lambda input, temperature: _over_sum(
            np.exp(input / temperature - np.max(input, axis=-1, keepdims=True)),
        ),
    ),
    Reading(
        "softmax_temperature",
        *FROM_0,
        lambda input, temperature: maximum_from_0(input / temperature),
    ),
    Reading(
        "softmax_temperature",
        "no maximum",
        "The exponentials are summed as they are, and overflow.",
        lambda input, temperature: _over_sum(np.exp(input / temperature)),
    ),
    Reading(
        "softmax_temperature_backward",
        "temperature lost",
        "The gradient of the plain softmax.",
        fed(ops.softmax_temperature_backward, temperature=lambda g: 1.0),
    ),
    Reading(
        "softmax_temperature_backward",
        "temperature multiplied",
        "It is not divided by.",
        fed(ops.softmax_temperature_backward, temperature=lambda g: 1.0 / g["temperature"]),
    ),
    Reading(
        "softmax_temperature_backward",
        "temperature applied twice",
        "Caller and kernel both divide.",
        giving(ops.softmax_temperature_backward, lambda result, g: result / g["temperature"]),
    ),
    Reading(
        "softmax_temperature_backward",
        "sum missing",
        "The rows' common term is left out.",
        lambda output, d_output, temperature: output * d_output / temperature,
    ),
    Reading(
        "softmax_temperature_backward",
        "unweighted sum",
        "d_output is summed without the probabilities.",
        lambda output, d_output, temperature: (
            output * (d_output - np.sum(d_output, axis=-1, keepdims=True)) / temperature
        ),
    ),
    Reading(
        "softmax_temperature_backward",
        "diagonal alone",
        "y * (1 - y) is the derivative of one entry by itself.",
        lambda output, d_output, temperature: output * (1.0 - output) * d_output / temperature,
    ),
    Reading(
        "softmax_temperature_backward",
        "probabilities of 0 left out of the sum",
        "0 * infinity is lost.",
        lambda output, d_output, temperature: output * (d_output - of_the_weighted(output, d_output)) / temperature,
    ),
)
