"""Arrays of samples: checked, split and cut into batches."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference import random

Array = NDArray[Any]


def samples(where: str, x: Any, shape: tuple[int, ...], dtype: Any, classes: int | None = None) -> Array:
    """Return x as a model takes it.  shape: of one sample; classes: how many class numbers there are.

    Raises ValueError for another shape, for no sample, for what is no array of numbers, or not of whole ones from 0 on
    and below `classes` where the type is whole.
    """
    array = np.asarray(x)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{where}: x: expected an array of numbers, got one of {array.dtype}")
    if array.ndim == 0 or array.shape[1:] != shape or not len(array):
        expected = ", ".join(map(str, ("samples", *shape)))
        raise ValueError(f"{where}: x: expected the shape ({expected}) with one sample or more, got {array.shape}")
    with np.errstate(invalid="ignore", over="ignore"):
        taken = np.ascontiguousarray(array, dtype)
    if taken.dtype.kind == "i" and (taken != array).any():
        raise ValueError(f"{where}: x: expected whole numbers of 32 bits, for the model reads class numbers")
    if classes is not None and (wrong := (taken < 0) | (taken >= classes)).any():
        raise ValueError(f"{where}: x: expected class numbers from 0 to {classes - 1}, got {taken[wrong][0]}")
    return taken


def paired(where: str, x: Array, y: Array) -> None:
    """Raise ValueError unless there are as many labels as samples."""
    if len(x) != len(y):
        raise ValueError(f"{where}: expected as many labels as samples, got {len(y)} and {len(x)}")


def split(x: Array, y: Array, share: float) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Cut off the last samples, before anything is shuffled: floor(samples * (1 - share)) stay for training.

    Raises ValueError for a share that is not between 0 and 1, or where one side is left without samples.
    """
    if not 0 < share < 1:
        raise ValueError(f"fit: validation_split: expected a number between 0 and 1, got {share}")
    at = math.floor(len(x) * (1.0 - share))
    if not 0 < at < len(x):
        raise ValueError(f"fit: validation_split: {share} of {len(x)} samples leaves none to one of the sides")
    return (x[:at], y[:at]), (x[at:], y[at:])


def batches(count: int, size: int, seed: int | None = None) -> Iterator[Array]:
    """Yield the places of each batch's samples; the last may have fewer.  seed: of their order, None for none."""
    order = np.arange(count) if seed is None else random.permutation(seed, count)
    for start in range(0, count, size):
        yield order[start : start + size]


def batch_size(where: str, size: Any) -> int:
    """Return it.  Raises ValueError for what is no whole number above 0."""
    return whole(where, "batch_size", size, 1)


def whole(where: str, name: str, value: Any, least: int) -> int:
    """Return a whole number of at least so much, or raise ValueError."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{where}: {name}: expected a whole number of at least {least}, got {value!r}")
    return int(value)
