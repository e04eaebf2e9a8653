"""NumPy's arrays, BLIS's products: `assayer run --module examples/modules/with_blis.py --exported`."""

from __future__ import annotations

import numpy as np
from blis.py import gemm as multiplied


def _product(A, B, C, alpha, beta, transposed_a, transposed_b):
    out = np.zeros_like(C) if beta == 0 else C.copy()
    return multiplied(A, B, out=out, trans1=transposed_a, trans2=transposed_b, alpha=alpha, beta=beta)


def gemm(A, B):
    return multiplied(A, B, trans2=True)


def gemm_beta(A, B, C, alpha, beta):
    return _product(A, B, C, alpha, beta, False, True)


def gemm_nn(A, B, C, alpha, beta):
    return _product(A, B, C, alpha, beta, False, False)


def gemm_tn(A, B, C, alpha, beta):
    return _product(A, B, C, alpha, beta, True, False)


def gemm_tt(A, B, C, alpha, beta):
    return _product(A, B, C, alpha, beta, True, True)
