"""Wrong readings of gate and up as one product with SwiGLU behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from reference.arrays import Array
from reference.ops import gemm_swiglu as ops
from reference.ops.activations import gelu_tanh
from reference.ops.elementwise import silu, swiglu

from .gemm import experts_with_rows, moved_offsets, transposed_storage
from .reading import Given, Reading, bfloat16, fed, giving, tf32

Results = tuple[Array, Array, Array]
WEIGHTS = ("B_gate", "B_up")


def _made(output: Callable[[Array, Array], Array]) -> Callable[[Results, Given], Results]:
    """Gate and up as they are, and something else made of them."""
    return lambda results, _: (results[0], results[1], output(results[0], results[1]))


def _sigmoid(x: Array) -> Array:
    return 1.0 / (1.0 + np.exp(-x))


def _by_turns(results: Results, _: Given) -> Results:
    """The columns of both, one behind the other, as if gate's and up's took turns."""
    pairs = np.concatenate(results[:2], axis=-1)
    gate, up = np.copy(pairs[:, 0::2], order="C"), np.copy(pairs[:, 1::2], order="C")
    return gate, up, swiglu(gate, up)


def _exchanged(results: Results, _: Given) -> Results:
    gate, up, output = results
    return up, gate, output


def _activated(results: Results, _: Given) -> Results:
    gate, up, output = results
    return silu(gate), up, output


def _rounded(rounding: Callable[[Array], Array]) -> dict[str, Callable[[Given], Any]]:
    def of(name: str) -> Callable[[Given], Any]:
        return lambda g: rounding(g[name])

    return {name: of(name) for name in ("A", *WEIGHTS)}


_ACTIVATIONS: tuple[tuple[str, str, Callable[[Array, Array], Array]], ...] = (
    ("gate and up exchanged", "SiLU is applied to the other projection.", lambda gate, up: swiglu(up, gate)),
    ("GLU", "The gate is a sigmoid, as in the first gated unit.", lambda gate, up: _sigmoid(gate) * up),
    ("GEGLU", "The gate is a GELU.", lambda gate, up: gelu_tanh(gate) * up),
    ("no activation", "The two projections are multiplied as they are.", lambda gate, up: gate * up),
    ("SiLU of the product", "The activation comes behind the multiplication.", lambda gate, up: silu(gate * up)),
)


def _of(function: Callable[..., Any]) -> Iterator[Reading]:
    reading = partial(Reading, function.__name__)
    for name, why, output in _ACTIVATIONS:
        yield reading(name, why, giving(function, _made(output)))
    yield reading(
        "weights exchanged",
        "up's weights stand before gate's, as in some checkpoints.",
        fed(function, B_gate=lambda g: g["B_up"], B_up=lambda g: g["B_gate"]),
    )
    yield reading(
        "gate and up stored as one another", "What backward is to read changes places.", giving(function, _exchanged)
    )
    yield reading("gate kept behind SiLU", "backward is given the activated gate.", giving(function, _activated))
    yield reading("columns by turns", "The fused product's columns are taken for pairs.", giving(function, _by_turns))
    for name in WEIGHTS:
        yield reading(
            f"{name} stored the other way",
            f"{name}'s memory is taken as that of its transpose.",
            fed(function, **{name: transposed_storage(name)}),
        )
    yield reading(
        "operands rounded to TF32", "Tensor cores are used without saying so.", fed(function, **_rounded(tf32))
    )
    yield reading(
        "operands rounded to bfloat16",
        "The product is computed in half precision.",
        fed(function, **_rounded(bfloat16)),
    )


def _first_for_all(*names: str) -> dict[str, Callable[[Given], Array]]:
    def of(name: str) -> Callable[[Given], Array]:
        return lambda g: np.repeat(g[name][:1], len(g[name]), axis=0)

    return {name: of(name) for name in names}


READINGS = (
    *(reading for function in (ops.gemm_swiglu, ops.grouped_gemm_swiglu) for reading in _of(function)),
    *(
        Reading(
            "grouped_gemm_swiglu",
            f"first expert's {name} for all",
            "The experts' weights are not told apart.",
            fed(ops.grouped_gemm_swiglu, **_first_for_all(name)),
        )
        for name in WEIGHTS
    ),
    Reading(
        "grouped_gemm_swiglu",
        "first expert for all",
        "The experts are not told apart.",
        fed(ops.grouped_gemm_swiglu, **_first_for_all(*WEIGHTS)),
    ),
    Reading(
        "grouped_gemm_swiglu",
        "experts without rows not counted",
        "The next expert takes the place, and the weights, of one that has no row.",
        fed(ops.grouped_gemm_swiglu, **{name: experts_with_rows(name) for name in WEIGHTS}),
    ),
    Reading(
        "grouped_gemm_swiglu",
        "boundaries one row late",
        "offsets are taken as the last row of an expert, inclusive.",
        fed(ops.grouped_gemm_swiglu, offsets=moved_offsets),
    ),
)
