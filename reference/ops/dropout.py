"""Dropout (Srivastava et al. 2014), scaled while training; its mask is drawn by counting, and again in the backward."""

from __future__ import annotations

import numpy as np

from reference import philox as generator
from reference.arrays import Array, check, ieee


@ieee
def dropout(input: Array, philox: Array, rate: float) -> Array:
    """input / (1 - rate) where an element is kept, which is so with probability 1 - rate, and 0 elsewhere.

    input: (n,); philox: (2,) of uint64, the generator's key and the offset of its first block.
    """
    return _masked("dropout", input, philox, rate)


@ieee
def dropout_backward(d_output: Array, philox: Array, rate: float) -> Array:
    """d_output / (1 - rate) where dropout with the same philox and rate keeps an element, and 0 elsewhere."""
    return _masked("dropout_backward", d_output, philox, rate)


def kept(philox: Array, count: int, rate: float) -> Array:
    """Which of the elements are kept: those whose uniform number is no less than rate."""
    key, offset = (int(word) for word in philox)
    return generator.uniform(generator.words(key, offset, count)) >= rate


def _masked(operation: str, values: Array, philox: Array, rate: float) -> Array:
    check(0 <= rate < 1, operation, "rate", "0 <= rate < 1", rate)
    check(np.shape(philox) == (2,), operation, "philox", "shape (2,)", np.shape(philox))
    mask = kept(philox, values.size, rate)
    return np.where(mask, values / (1.0 - rate), np.zeros_like(values))
