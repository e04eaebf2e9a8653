"""Gradients by finite differences, to hold a backward against."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tensors.errors import check
from tensors.tensor import Tensor

from .variable import Variable, no_grad

Array = np.ndarray[Any, np.dtype[np.float64]]


class Slopes(NamedTuple):
    """Central differences at a step, extrapolated by those at twice that (Richardson 1911); `twice`: one step wider.

    What is left errs by the fourth power of the step: `twice` by sixteen times what `once` errs by, so that the two
    are fifteen times as far apart as `once` is from the derivative, to that order.
    """

    once: Array
    twice: Array


def differences(f: Callable[..., Variable], inputs: Sequence[Tensor], step: float) -> list[Slopes]:
    """Return for each input the slopes of the sum of what f gives, element by element; inputs: float64."""
    found = []
    for number, tensor in enumerate(inputs):
        check(tensor.dtype == np.float64, "differences", "float64", tensor.dtype)
        slopes = [np.zeros(tensor.shape) for _ in range(3)]
        for place in np.ndindex(tensor.shape):
            for slope, width in zip(slopes, (step, 2.0 * step, 4.0 * step), strict=True):
                up, down = (_sum(f, inputs, number, place, way * width) for way in (1.0, -1.0))
                slope[place] = (up - down) / (2.0 * width)
        found.append(Slopes(*((4.0 * near - far) / 3.0 for near, far in itertools.pairwise(slopes))))
    return found


def _sum(f: Callable[..., Variable], inputs: Sequence[Tensor], number: int, place: tuple[int, ...], by: float) -> float:
    """The sum of what f gives where one element of one input is moved."""
    moved = inputs[number].copy()
    moved[place] = moved[place] + by
    given = [*inputs[:number], moved, *inputs[number + 1 :]]
    with no_grad():
        return f(*map(Variable, given)).sum().item()
