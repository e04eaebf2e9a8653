"""Wrong readings of the matrix products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reference.arrays import Array
from reference.ops import gemm as ops

from .reading import Given, Reading, as_stored, bfloat16, fed, giving, tf32

PRODUCTS = (ops.gemm, ops.router_gemm, ops.gemm_beta, ops.gemm_nn, ops.gemm_tn, ops.gemm_tt, ops.batched_gemm)
GROUPED = (ops.grouped_gemm, ops.grouped_gemm_nn, ops.grouped_gemm_tn)
WITH_FACTORS = (ops.gemm_beta, ops.gemm_nn, ops.gemm_tn, ops.gemm_tt)


def transposed_storage(name: str) -> Callable[[Given], Array]:
    """The operand's memory taken as that of its transpose: (n, k) read as k rows of n."""

    def change(g: Given) -> Array:
        array = g[name]
        return np.swapaxes(as_stored(array, *array.shape[:-2], array.shape[-1], array.shape[-2]), -1, -2)

    return change


def _rounded(function: Callable[..., Any], rounding: Callable[[Array], Array]) -> Callable[..., Any]:
    return fed(function, A=lambda g: rounding(g["A"]), B=lambda g: rounding(g["B"]))


def _alpha_of_the_sum(g: Given) -> Any:
    """alpha * (A . B + beta * C)."""
    return g["alpha"] * g["beta"]


def moved_offsets(g: Given) -> Array:
    """Every inner boundary one row late."""
    offsets = g["offsets"].copy()
    offsets[1:-1] = np.minimum(offsets[1:-1] + 1, offsets[-1])
    return offsets


def experts_with_rows(name: str) -> Callable[[Given], Array]:
    """The weights of each expert, the others numbered as if those without rows were not there."""

    def change(g: Given) -> Array:
        before = np.cumsum(np.diff(g["offsets"]) > 0)
        weights: Array = g[name][np.concatenate([[0], before[:-1]])]
        return weights

    return change


def _dropped_where_empty(result: Array, g: Given) -> Array:
    return np.where(np.diff(g["offsets"])[:, None, None] > 0, result, result.dtype.type(0))


READINGS = (
    *(
        Reading(
            function.__name__,
            "B stored the other way",
            "B's memory is taken as that of its transpose.",
            fed(function, B=transposed_storage("B")),
        )
        for function in (*PRODUCTS, ops.grouped_gemm, ops.grouped_gemm_nn)
    ),
    *(
        Reading(
            function.__name__,
            "A stored the other way",
            "A's memory is taken as that of its transpose.",
            fed(function, A=transposed_storage("A")),
        )
        for function in (ops.gemm_tn, ops.gemm_tt, ops.grouped_gemm_tn)
    ),
    *(
        Reading(function.__name__, "alpha ignored", "The product is not scaled.", fed(function, alpha=lambda g: 1.0))
        for function in WITH_FACTORS
    ),
    *(
        Reading(
            function.__name__,
            "beta ignored",
            "C is assigned instead of accumulated.",
            fed(function, beta=lambda g: 0.0),
        )
        for function in (*WITH_FACTORS, ops.grouped_gemm_tn)
    ),
    *(
        Reading(
            function.__name__,
            "beta taken as 1",
            "C is always added as it is.",
            fed(function, beta=lambda g: 1.0 if g["beta"] != 0 else 0.0),
        )
        for function in (*WITH_FACTORS, ops.grouped_gemm_tn)
    ),
    *(
        Reading(
            function.__name__,
            "C added by both halves of K",
            "The sum is split along K, and each part adds beta * C.",
            fed(function, beta=lambda g: 2 * g["beta"]),
        )
        for function in (*WITH_FACTORS, ops.grouped_gemm_tn)
    ),
    *(
        Reading(
            function.__name__,
            "alpha of the sum",
            "alpha scales beta * C too.",
            fed(function, beta=_alpha_of_the_sum),
        )
        for function in WITH_FACTORS
    ),
    *(
        Reading(function.__name__, name, why, _rounded(function, rounding))
        for function in (*PRODUCTS, *GROUPED)
        for name, why, rounding in (
            ("operands rounded to TF32", "Tensor cores are used without saying so.", tf32),
            ("operands rounded to bfloat16", "The product is computed in half precision.", bfloat16),
        )
    ),
    Reading(
        "batched_gemm",
        "first B for all",
        "B's batch stride is 0.",
        fed(ops.batched_gemm, B=lambda g: np.repeat(g["B"][:1], len(g["B"]), axis=0)),
    ),
    *(
        Reading(
            function.__name__,
            "first expert for all",
            "The experts' weights are not told apart.",
            fed(function, B=lambda g: np.repeat(g["B"][:1], len(g["B"]), axis=0)),
        )
        for function in (ops.grouped_gemm, ops.grouped_gemm_nn)
    ),
    *(
        Reading(
            function.__name__,
            "experts without rows not counted",
            "The next expert takes the place, and the weights, of one that has no row.",
            fed(function, B=experts_with_rows("B")),
        )
        for function in (ops.grouped_gemm, ops.grouped_gemm_nn)
    ),
    *(
        Reading(
            function.__name__,
            "boundaries one row late",
            "offsets are taken as the last row of an expert, inclusive.",
            fed(function, offsets=moved_offsets),
        )
        for function in GROUPED
    ),
    Reading(
        "grouped_gemm_tn",
        "experts without rows cleared",
        "What was accumulated before is lost where an expert has no row.",
        giving(ops.grouped_gemm_tn, _dropped_where_empty),
    ),
)
