"""Fused operations against what they are composed of: the same numbers, within the noise of the composed form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bindings import Library
from conformance.limits.noise import FLOAT32
from tensors.tape import Variable
from tests.graph.limits import shares
from tests.tensors.noise import Expression, expected, on, results

EPS = 2.0**-10
SIZES = [(1, 1), (3, 33), (5, 257), (4, 1025)]


def softmax(x: Variable) -> Variable:
    shifted = (x - x.max(1, keepdims=True)).map("exp")
    return shifted / shifted.sum(1, keepdims=True)


def layernorm(x: Variable, weight: Variable, bias: Variable) -> Variable:
    apart = x - x.mean(1, keepdims=True)
    spread = apart.map("square").mean(1, keepdims=True)
    return apart * (spread + EPS).map("rsqrt") * weight + bias


def fused_softmax(library: Library, arrays: Sequence[Any], seed: Any) -> dict[str, Any]:
    output = library.softmax(arrays[0])
    return {"result": output, "d 0": library.softmax_backward(output, seed)}


def fused_layernorm(library: Library, arrays: Sequence[Any], seed: Any) -> dict[str, Any]:
    x, weight, bias = arrays
    output, mean, rstd = library.layernorm(x, weight, bias, EPS)
    sums = {"d_weight": np.zeros_like(weight), "d_bias": np.zeros_like(bias), "beta": 0.0}
    gradients = library.layernorm_backward(x, weight, mean, rstd, seed, **sums)
    return {"result": output, **{f"d {number}": array for number, array in enumerate(gradients)}}


@dataclass(frozen=True)
class Fused:
    """composed: on the tape.  compute: the same and its gradients by a library's own operations."""

    composed: Expression
    compute: Callable[[Library, Sequence[Any], Any], dict[str, Any]]
    vectors: int  # beside the rows: weight, bias


FUSED = {"softmax": Fused(softmax, fused_softmax, 0), "layernorm": Fused(layernorm, fused_layernorm, 2)}


def drawn(fused: Fused, size: tuple[int, int]) -> tuple[list[Any], Any]:
    """Arguments, and the gradient of the result."""
    rng = np.random.default_rng(size[1])
    rows, seed = (rng.normal(size=size).astype(np.float32) for _ in range(2))
    return [rows, *(rng.normal(size=size[1]).astype(np.float32) for _ in range(fused.vectors))], seed


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("name", FUSED)
def test_both_forms_are_within_the_noise_of_the_composed_one(name: str, size: tuple[int, int], stub: Library) -> None:
    fused = FUSED[name]
    arrays, seed = drawn(fused, size)
    noise = expected(fused.composed, arrays, seed, FLOAT32)
    for got in (fused.compute(stub, arrays, seed), results(fused.composed, arrays, seed, on(stub, np.float32))):
        found = shares(noise, got, both_err=False)
        assert max(found.values()) <= 1, found


@pytest.mark.parametrize("name", FUSED)
def test_so_are_the_kernels(name: str, emulated_path: Path) -> None:
    fused, library = FUSED[name], Library(emulated_path)
    arrays, seed = drawn(fused, SIZES[1])
    noise = expected(fused.composed, arrays, seed, FLOAT32)
    found = shares(noise, fused.compute(library, arrays, seed), both_err=False)
    assert max(found.values()) <= 1, found


@pytest.mark.parametrize("name", FUSED)
def test_a_wrong_gradient_is_told(name: str, stub: Library) -> None:
    fused = FUSED[name]
    arrays, seed = drawn(fused, SIZES[1])
    noise = expected(fused.composed, arrays, seed, FLOAT32)
    got = fused.compute(stub, arrays, seed)
    got["d 0"] = got["d 0"] * np.float32(1 + 2.0**-12)
    assert shares(noise, got, both_err=False)["d 0"] > 1
