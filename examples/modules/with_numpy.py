"""A port in NumPy: `assayer run --module examples/modules/with_numpy.py --exported`.

Functions have the names of the header's operations, without `cuda_`, and arguments of its names; results are returned,
in the header's order, in the types that it declares.  What an operation has to refuse is refused by raising.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
One = np.float32(1)


def _expect_arrays(**arrays: Array | None) -> None:
    for name, array in arrays.items():
        if array is None:
            raise ValueError(f"{name}: expected an array, got none")


def _expect_indices(name: str, indices: NDArray[np.int32], stop: int) -> None:
    if indices.size and not (indices.min() >= 0 and indices.max() < stop):  # a negative one would count from the end
        raise ValueError(f"{name}: expected 0 <= index < {stop}, got {indices.min()} to {indices.max()}")


def silu(input: Array) -> Array:
    _expect_arrays(input=input)
    with np.errstate(over="ignore"):
        return input / (One + np.exp(-input))


def swiglu(gate: Array, up: Array) -> Array:
    _expect_arrays(gate=gate, up=up)
    return silu(gate) * up


def softmax(input: Array) -> Array:
    _expect_arrays(input=input)
    with np.errstate(invalid="ignore"):
        weights = np.exp(input - input.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True)


def rmsnorm(input: Array, weight: Array, eps: float) -> Array:
    _expect_arrays(input=input, weight=weight)
    if not eps >= 0:
        raise ValueError(f"eps: expected eps >= 0, got {eps}")
    with np.errstate(over="ignore", invalid="ignore"):
        return input / np.sqrt(np.mean(input * input, -1, keepdims=True) + np.float32(eps)) * weight


def gemm(A: Array, B: Array) -> Array:
    _expect_arrays(A=A, B=B)
    with np.errstate(over="ignore", invalid="ignore"):
        return A @ B.T


def embedding(weight: Array, indices: NDArray[np.int32]) -> Array:
    _expect_arrays(weight=weight, indices=indices)
    _expect_indices("indices", indices, len(weight))
    return weight[indices]


def adamw_step(
    param: Array,
    grad: Array,
    m: Array,
    v: Array,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    step: int,
) -> None:
    """Arrays that are updated may be written in place, as here, or returned."""
    _expect_arrays(param=param, grad=grad, m=m, v=v)
    betas_fit = 0 <= beta1 < 1 and 0 <= beta2 < 1
    if not (lr >= 0 and betas_fit and eps >= 0 and weight_decay >= 0 and step >= 1):
        raise ValueError(f"expected rates from 0, betas below 1 and steps from 1, got {lr}, {beta1}, {beta2}, {step}")
    with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
        m[:] = np.float32(beta1) * m + np.float32(1 - beta1) * grad
        v[:] = np.float32(beta2) * v + np.float32(1 - beta2) * (grad * grad)
        update = m / np.float32(1 - beta1**step) / (np.sqrt(v / np.float32(1 - beta2**step)) + np.float32(eps))
        param[:] = param - np.float32(lr) * (update + np.float32(weight_decay) * param)
