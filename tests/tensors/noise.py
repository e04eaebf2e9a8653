"""Expressions on any kind of number: what they give, their gradients, and how far an honest evaluation may be off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import reference
from conformance.limits.namespaces import OnNumbers
from conformance.limits.noise import FLOAT32, Noisy, exact, using
from conformance.limits.noise.precision import Precision
from conformance.steps.tape.judge import EXTREMES, extremes
from tensors import Storage, Tensor
from tensors.layout import dense
from tensors.tape import Variable
from tests.graph.limits import FLOAT64, OnDoubles

Expression = Callable[..., Variable]


def elements(tensor: Tensor) -> Any:
    """A tensor's elements, of whatever kind they are, as an array of its shape."""
    return np.reshape(tensor.copy().storage.array, tensor.shape)


def results(f: Expression, arrays: Sequence[Any], seed: Any, make: Callable[[Any], Tensor]) -> dict[str, Any]:
    """What f gives, and the gradient of each array where that of the result is `seed`, by number."""
    leaves = [Variable(make(array), requires_grad=True) for array in arrays]
    result = f(*leaves)
    found = {"result": elements(result.value)}
    result.backward(make(seed))
    return found | {f"d {n}": elements(leaf.grad) for n, leaf in enumerate(leaves) if leaf.grad is not None}


def on(ops: Any, dtype: Any = np.float64) -> Callable[[Any], Tensor]:
    """What makes tensors of arrays."""
    return lambda array: Tensor(np.asarray(array, dtype), ops)


class Floats(OnNumbers):
    """The reference on noise numbers, where the largest of several is as far off as it was before.

    The judge's own numbers take a row's largest one, which softmax subtracts and is free to choose, for exact.
    """

    def reduce_strided(self, input: Any, output: Any, shape: Any, *args: Any) -> Any:
        """Extremes by their places; anything else as it is."""
        strides, output_strides, offset, _, function, start = args
        if function not in EXTREMES or not isinstance(input, Noisy):
            return self._call("reduce_strided", input, output, shape, *args)
        found = extremes(input, shape, strides, offset, function, len(output_strides))
        join = np.maximum if EXTREMES[function] is np.argmax else np.minimum
        return join(found, self._converted(start))  # outputs of tensors are dense


class Doubles(Floats, OnDoubles):
    """The same in float64."""


def expected(f: Expression, arrays: Sequence[Any], seed: Any, precision: Precision = FLOAT64) -> dict[str, Any]:
    """The same on the judge's noise numbers, of whose errors the limits come."""
    ops = (Floats if precision is FLOAT32 else Doubles)(exact)

    def make(array: Any) -> Tensor:
        return Tensor.in_storage(Storage(exact(np.reshape(array, -1)), ops), dense(np.shape(array)))

    with using(precision), np.errstate(all="ignore"):
        return results(f, arrays, seed, make)


DOUBLES = on(reference)
