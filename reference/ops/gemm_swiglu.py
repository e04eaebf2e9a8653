"""Gate and up projections as one product, and SwiGLU of both: a gated unit's first half.

gate and up are results too: swiglu_backward reads them, and computing them again would be two products more.
"""

from __future__ import annotations

import numpy as np

from reference.arrays import Array, check_same_shape, ieee

from .elementwise import swiglu
from .gemm import gemm, rows_times


@ieee
def gemm_swiglu(A: Array, B_gate: Array, B_up: Array) -> tuple[Array, Array, Array]:
    """gate = A . B_gate^T, up = A . B_up^T, silu(gate) * up (Shazeer 2020, GLU variants improve transformer).

    A: (M, K), B_gate and B_up: (N, K). Returns gate, up and output: (M, N).
    """
    check_same_shape("gemm_swiglu", B_gate=B_gate, B_up=B_up)
    gate, up = gemm(A, B_gate), gemm(A, B_up)
    return gate, up, swiglu(gate, up)


@ieee
def grouped_gemm_swiglu(A: Array, B_gate: Array, B_up: Array, offsets: Array) -> tuple[Array, Array, Array]:
    """gemm_swiglu of each expert's rows; expert e owns rows offsets[e] to offsets[e + 1].

    A: (rows, K), B_gate and B_up: (n_experts, N, K), offsets: (n_experts + 1,) ascending from 0 to rows.
    Returns gate, up and output: (rows, N).
    """
    check_same_shape("grouped_gemm_swiglu", B_gate=B_gate, B_up=B_up)
    gate, up = (rows_times("grouped_gemm_swiglu", A, np.swapaxes(B, -1, -2), offsets) for B in (B_gate, B_up))
    return gate, up, swiglu(gate, up)
