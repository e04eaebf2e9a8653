"""The gradients of a layer y = gemm(x, W)."""

from __future__ import annotations

from reference.arrays import Array
from reference.namespace import Ops


def beta(into: Array | None) -> float:
    """What a gradient's buffer counts: 1 where one is given to add into, 0 where the gradient starts afresh."""
    return 0.0 if into is None else 1.0


def backward(
    ops: Ops, x: Array, weight: Array, d_y: Array, d_weight: Array | None, d_x: Array | None = None
) -> tuple[Array, Array]:
    """(d_x, d_weight), each added to what is given for it; x [rows, in], weight [out, in], d_y [rows, out]."""
    d_weight = ops.gemm_tn(d_y, x, d_weight, alpha=1.0, beta=beta(d_weight))
    d_x = ops.gemm_nn(d_y, weight, d_x, alpha=1.0, beta=beta(d_x))
    return d_x, d_weight
