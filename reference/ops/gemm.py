"""Matrix products: either operand transposed, batched, and grouped by expert. Weights are stored out x in."""

from __future__ import annotations

import itertools

import numpy as np

from reference.arrays import Array, accumulate, check, ieee

from .blocks import is_plain, product, products


@ieee
def gemm(A: Array, B: Array) -> Array:
    """A . B^T. A: (M, K), B: (N, K)."""
    return product(A, B.T)


@ieee
def router_gemm(A: Array, B: Array) -> Array:
    """A router's logits, A . B^T, which no format shortens. A: (M, K), B: (N, K)."""
    return product(A, B.T)


@ieee
def gemm_beta(A: Array, B: Array, C: Array | None, alpha: float, beta: float) -> Array:
    """alpha * A . B^T + beta * C. A: (M, K), B: (N, K), C: (M, N), not read where beta is 0."""
    return _combined(product(A, B.T), C, alpha, beta)


@ieee
def gemm_nn(A: Array, B: Array, C: Array | None, alpha: float, beta: float) -> Array:
    """alpha * A . B + beta * C. A: (M, K), B: (K, N), C: (M, N), not read where beta is 0."""
    return _combined(product(A, B), C, alpha, beta)


@ieee
def gemm_tn(A: Array, B: Array, C: Array | None, alpha: float, beta: float) -> Array:
    """alpha * A^T . B + beta * C. A: (K, M), B: (K, N), C: (M, N), not read where beta is 0."""
    return _combined(product(A.T, B), C, alpha, beta)


@ieee
def gemm_tt(A: Array, B: Array, C: Array | None, alpha: float, beta: float) -> Array:
    """alpha * A^T . B^T + beta * C. A: (K, M), B: (N, K), C: (M, N), not read where beta is 0."""
    return _combined(product(A.T, B.T), C, alpha, beta)


def _combined(AB: Array, C: Array | None, alpha: float, beta: float) -> Array:
    return accumulate(AB if alpha == 1 else alpha * AB, C, beta)


@ieee
def batched_gemm(A: Array, B: Array) -> Array:
    """A[b] . B[b]^T for every b. A: (batch, M, K), B: (batch, N, K)."""
    return A @ np.swapaxes(B, -1, -2)


@ieee
def grouped_gemm(A: Array, B: Array, offsets: Array) -> Array:
    """A[rows of e] . B[e]^T; expert e owns rows offsets[e] to offsets[e + 1].

    A: (rows, K), B: (n_experts, N, K), offsets: (n_experts + 1,) ascending from 0 to rows.
    """
    return rows_times("grouped_gemm", A, np.swapaxes(B, -1, -2), offsets)


@ieee
def grouped_gemm_nn(A: Array, B: Array, offsets: Array) -> Array:
    """A[rows of e] . B[e], the gradient of the experts' input. A: (rows, K), B: (n_experts, K, N)."""
    return rows_times("grouped_gemm_nn", A, B, offsets)


@ieee
def grouped_gemm_tn(A: Array, B: Array, offsets: Array, C: Array | None, beta: float) -> Array:
    """A[rows of e]^T . B[rows of e] + beta * C[e], the gradient of the experts' weights.

    A: (rows, M), B: (rows, N), C: (n_experts, M, N), not read where beta is 0.
    """
    bounds = _bounds("grouped_gemm_tn", offsets, len(offsets) - 1, len(A))
    pairs = [(A[start:stop].T, B[start:stop]) for start, stop in bounds]
    if not is_plain(A, B):
        return accumulate(np.stack([left @ right for left, right in pairs]), C, beta)
    AB = np.empty((len(pairs), A.shape[1], B.shape[1]), np.result_type(A, B))
    products([(left, right, AB[e]) for e, (left, right) in enumerate(pairs)])
    return accumulate(AB, C, beta)


def rows_times(operation: str, A: Array, B: Array, offsets: Array) -> Array:
    """A[rows of e] @ B[e], the experts' rows one below the other; plain arrays are written where they belong."""
    bounds = _bounds(operation, offsets, len(B), len(A))
    if not is_plain(A, B):
        return np.concatenate([A[start:stop] @ B[e] for e, (start, stop) in enumerate(bounds)])
    C = np.empty((len(A), B.shape[-1]), np.result_type(A, B))
    products([(A[start:stop], B[e], C[start:stop]) for e, (start, stop) in enumerate(bounds)])
    return C


def _bounds(operation: str, offsets: Array, n_experts: int, rows: int) -> list[tuple[int, int]]:
    """First row and end of every expert."""
    whole = len(offsets) == n_experts + 1 and offsets[0] == 0 and offsets[-1] == rows and (np.diff(offsets) >= 0).all()
    check(whole, operation, "offsets", f"{n_experts + 1} values ascending from 0 to {rows} rows", offsets)
    return list(itertools.pairwise(offsets.tolist()))
