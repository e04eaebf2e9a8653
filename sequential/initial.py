"""What parameters are before training, by Keras 3's names and rules; each is drawn from a seed of its own."""

from __future__ import annotations

from math import prod, sqrt

import numpy as np
from numpy.typing import NDArray

from reference import random

Array = NDArray[np.float64]
NAMES = ("zeros", "ones", "forget_bias", "glorot_uniform", "orthogonal", "uniform")
EMBEDDING_RANGE = 0.05  # Keras' "uniform" draws between minus this and this


def fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """How many numbers go into one of a layer's outputs, and how many come from one of its inputs.

    shape: (outputs, inputs), or (filters, channels of a group, height, width).
    """
    if len(shape) < 2:
        raise ValueError(f"fans: expected a weight of two axes or more, got the shape {shape}")
    places = prod(shape[2:])
    return shape[1] * places, shape[0] * places


def glorot_uniform(seed: int, shape: tuple[int, ...]) -> Array:
    """Even between -l and l, l = sqrt(6 / (fan in + fan out)) (Glorot and Bengio 2010)."""
    limit = sqrt(6.0 / sum(fans(shape)))
    return (2.0 * random.uniform(seed, shape) - 1.0) * limit


def orthogonal(seed: int, shape: tuple[int, ...]) -> Array:
    """A matrix whose columns are orthonormal, its rows where there are fewer of these (Saxe et al. 2014).

    The Q of a normal matrix' QR, each column turned so that R's diagonal is positive: so it is even among all such Q.
    """
    if len(shape) != 2:
        raise ValueError(f"orthogonal: expected a weight of two axes, got the shape {shape}")
    rows, columns = max(shape), min(shape)
    q, r = np.linalg.qr(random.normal(seed, (rows, columns)))
    q = q * np.where(np.diag(r) < 0, -1.0, 1.0)
    return np.ascontiguousarray(q if shape[0] >= shape[1] else q.T)


def forget_bias(shape: tuple[int, ...]) -> Array:
    """An LSTM's: 1 for the forget gate, the second quarter, 0 elsewhere (Jozefowicz, Zaremba and Sutskever 2015)."""
    gates = np.zeros((4, shape[0] // 4))
    gates[1] = 1.0
    return gates.reshape(shape)


def initial(name: str, seed: int, shape: tuple[int, ...]) -> Array:
    """Return a parameter's first values in float64.  Raises ValueError for a name that is none of NAMES."""
    if name == "zeros":
        return np.zeros(shape)
    if name == "ones":
        return np.ones(shape)
    if name == "forget_bias":
        return forget_bias(shape)
    if name == "uniform":
        return (2.0 * random.uniform(seed, shape) - 1.0) * EMBEDDING_RANGE
    if name == "glorot_uniform":
        return glorot_uniform(seed, shape)
    if name == "orthogonal":
        return orthogonal(seed, shape)
    raise ValueError(f"initializer: expected one of {', '.join(NAMES)}, got {name!r}")
