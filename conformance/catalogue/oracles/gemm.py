"""Matrix products, one number at a time; a product is stated by what it does with rows and columns."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from .elementwise import swiglu
from .numbers import Matrix, Number, dot, tensor


def _columns(matrix: Matrix) -> Matrix:
    return [list(column) for column in zip(*matrix, strict=True)]


def _scaled(A: Matrix, B: Matrix, C: Matrix, alpha: Number, beta: Number) -> Matrix:
    """Return alpha * (rows of A with rows of B) + beta * C; C is read only where beta is not zero."""
    product = gemm(A, B)
    return tensor(  # type: ignore[no-any-return]
        (len(A), len(B)), lambda i, j: alpha * product[i][j] + (beta * C[i][j] if beta else Decimal(0))
    )


def gemm(A: Matrix, B: Matrix) -> Matrix:
    return [[dot(a, b) for b in B] for a in A]


def router_gemm(A: Matrix, B: Matrix) -> Matrix:
    return gemm(A, B)


def gemm_beta(A: Matrix, B: Matrix, C: Matrix, alpha: Number, beta: Number) -> Matrix:
    return _scaled(A, B, C, alpha, beta)


def gemm_nn(A: Matrix, B: Matrix, C: Matrix, alpha: Number, beta: Number) -> Matrix:
    return _scaled(A, _columns(B), C, alpha, beta)


def gemm_tn(A: Matrix, B: Matrix, C: Matrix, alpha: Number, beta: Number) -> Matrix:
    return _scaled(_columns(A), _columns(B), C, alpha, beta)


def gemm_tt(A: Matrix, B: Matrix, C: Matrix, alpha: Number, beta: Number) -> Matrix:
    return _scaled(_columns(A), B, C, alpha, beta)


def batched_gemm(A: Sequence[Matrix], B: Sequence[Matrix]) -> list[Matrix]:
    return [gemm(a, b) for a, b in zip(A, B, strict=True)]


def grouped_gemm(A: Matrix, B: Sequence[Matrix], offsets: Sequence[int]) -> Matrix:
    return [row for e, (i, j) in enumerate(itertools.pairwise(offsets)) for row in gemm(A[i:j], B[e])]


def gemm_swiglu(A: Matrix, B_gate: Matrix, B_up: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    gate, up = gemm(A, B_gate), gemm(A, B_up)
    return gate, up, [swiglu(g, u) for g, u in zip(gate, up, strict=True)]


def grouped_gemm_swiglu(
    A: Matrix, B_gate: Sequence[Matrix], B_up: Sequence[Matrix], offsets: Sequence[int]
) -> tuple[Matrix, Matrix, Matrix]:
    gate, up = grouped_gemm(A, B_gate, offsets), grouped_gemm(A, B_up, offsets)
    return gate, up, [swiglu(g, u) for g, u in zip(gate, up, strict=True)]


def grouped_gemm_nn(A: Matrix, B: Sequence[Matrix], offsets: Sequence[int]) -> Matrix:
    return [row for e, (i, j) in enumerate(itertools.pairwise(offsets)) for row in gemm(A[i:j], _columns(B[e]))]


def grouped_gemm_tn(A: Matrix, B: Matrix, offsets: Sequence[int], C: Sequence[Matrix], beta: Number) -> Any:
    """C[e][m][n] = sum of A[row][m] * B[row][n] over the rows of expert e, + beta * C[e][m][n]."""

    def entry(e: int, m: int, n: int) -> Number:
        rows = range(offsets[e], offsets[e + 1])
        added = beta * C[e][m][n] if beta else Decimal(0)
        return sum((A[r][m] * B[r][n] for r in rows), added)

    return tensor((len(C), len(A[0]), len(B[0])), entry)
