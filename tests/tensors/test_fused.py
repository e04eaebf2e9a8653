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

EPS, SCALE = 2.0**-10, 0.25
MASKED = -(2.0**20)  # added to a score: its exponential is 0
Size = tuple[int, ...]


def softmax(x: Variable) -> Variable:
    shifted = (x - x.max(-1, keepdims=True)).map("exp")
    return shifted / shifted.sum(-1, keepdims=True)


def layernorm(x: Variable, weight: Variable, bias: Variable) -> Variable:
    apart = x - x.mean(1, keepdims=True)
    spread = apart.map("square").mean(1, keepdims=True)
    return apart * (spread + EPS).map("rsqrt") * weight + bias


def attention(q: Variable, k: Variable, v: Variable, future: Variable) -> Variable:
    """q: (batch, seq, heads, dim); k, v: (batch, seq, kv heads, dim); future: (seq, seq), added to all scores."""
    batch, seq, heads, dim = q.shape
    groups = k.shape[2]
    queries = q.reshape((batch, seq, groups, heads // groups, dim)).permute_dims((0, 2, 3, 1, 4))
    keys, values = (x.permute_dims((0, 2, 1, 3)).expand_dims(2) for x in (k, v))
    output = softmax(queries @ keys.mT * SCALE + future) @ values
    return output.permute_dims((0, 3, 1, 2, 4)).contiguous().reshape((batch, seq, heads, dim))


def fused_softmax(library: Library, arrays: Sequence[Any], seed: Any) -> dict[str, Any]:
    output = library.softmax(arrays[0])
    return {"result": output, "d 0": library.softmax_backward(output, seed)}


def fused_layernorm(library: Library, arrays: Sequence[Any], seed: Any) -> dict[str, Any]:
    x, weight, bias = arrays
    output, mean, rstd = library.layernorm(x, weight, bias, EPS)
    sums = {"d_weight": np.zeros_like(weight), "d_bias": np.zeros_like(bias), "beta": 0.0}
    gradients = library.layernorm_backward(x, weight, mean, rstd, seed, **sums)
    return {"result": output, **{f"d {number}": array for number, array in enumerate(gradients)}}


def fused_attention(library: Library, arrays: Sequence[Any], seed: Any) -> dict[str, Any]:
    q, k, v, _ = arrays
    output, lse = library.attention_forward(q, k, v, kv_len=q.shape[1], scale=SCALE)
    gradients = library.attention_backward(q, k, v, output, lse, seed, SCALE)
    return {"result": output, **{f"d {number}": array for number, array in enumerate(gradients)}}


@dataclass(frozen=True)
class Fused:
    """composed: on the tape.  compute: the same and its gradients by a library's own operations.

    shapes: of what is drawn, by size.
    """

    composed: Expression
    compute: Callable[[Library, Sequence[Any], Any], dict[str, Any]]
    shapes: Callable[..., list[Size]]
    sizes: Sequence[Size]


_ROWS = ((3, 33), (1, 1), (5, 257), (4, 1025))
FUSED = {
    "softmax": Fused(softmax, fused_softmax, lambda rows, columns: [(rows, columns)], _ROWS),
    "layernorm": Fused(layernorm, fused_layernorm, lambda rows, n: [(rows, n), (n,), (n,)], _ROWS),
    "attention": Fused(
        attention,
        fused_attention,
        lambda batch, seq, heads, groups, dim: [(batch, seq, heads, dim), *[(batch, seq, groups, dim)] * 2],
        ((2, 9, 4, 2, 8), (1, 1, 1, 1, 1), (1, 65, 2, 1, 16)),
    ),
}
CASES = [(name, size) for name, fused in FUSED.items() for size in fused.sizes]


def drawn(name: str, size: Size) -> tuple[list[Any], Any]:
    """Arguments, and the gradient of the result, which has the first one's shape."""
    rng = np.random.default_rng(size[1])
    arrays = [rng.normal(size=shape).astype(np.float32) for shape in FUSED[name].shapes(*size)]
    seed = rng.normal(size=arrays[0].shape).astype(np.float32)
    future = [np.triu(np.full((size[1], size[1]), MASKED, np.float32), 1)] if name == "attention" else []
    return [*arrays, *future], seed


def noise_of(name: str, arrays: Sequence[Any], seed: Any) -> dict[str, Any]:
    """What both forms give, without the gradient of a mask, which the fused one has not."""
    noise = expected(FUSED[name].composed, arrays, seed, FLOAT32)
    return {key: value for key, value in noise.items() if key != "d 3"}


@pytest.mark.parametrize(("name", "size"), CASES, ids=str)
def test_both_forms_are_within_the_noise_of_the_composed_one(name: str, size: Size, stub: Library) -> None:
    arrays, seed = drawn(name, size)
    noise = noise_of(name, arrays, seed)
    composed = results(FUSED[name].composed, arrays, seed, on(stub, np.float32))
    composed.pop("d 3", None)
    for got in (FUSED[name].compute(stub, arrays, seed), composed):
        found = shares(noise, got, both_err=False)
        assert max(found.values()) <= 1, found


@pytest.mark.parametrize("name", FUSED)
def test_so_are_the_kernels(name: str, emulated_path: Path) -> None:
    arrays, seed = drawn(name, FUSED[name].sizes[0])
    got = FUSED[name].compute(Library(emulated_path), arrays, seed)
    found = shares(noise_of(name, arrays, seed), got, both_err=False)
    assert max(found.values()) <= 1, found


@pytest.mark.parametrize("name", FUSED)
def test_a_wrong_gradient_is_told(name: str, stub: Library) -> None:
    arrays, seed = drawn(name, FUSED[name].sizes[0])
    got = FUSED[name].compute(stub, arrays, seed)
    got["d 0"] = got["d 0"] * np.float32(1 + 2.0**-12)
    assert shares(noise_of(name, arrays, seed), got, both_err=False)["d 0"] > 1
