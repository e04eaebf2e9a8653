"""What is multiplied by zero may go unread: both ports conform, whatever stands there."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.judging.outputs import judge_outputs
from conformance.limits.expectation import expect

PRODUCTS = ["gemm_beta", "gemm_nn", "gemm_tn", "gemm_tt"]


@pytest.mark.parametrize("beta", [0.0, 0.7])
@pytest.mark.parametrize("operation", PRODUCTS)
def test_factors_go_unread_or_not_where_alpha_is_zero(operation: str, beta: float) -> None:
    A, B, C = (np.full((2, 2), value, np.float32) for value in (2.0, 3.0, 5.0))
    A[0, 0] = np.inf
    C[1, 1] = np.nan
    given = {"A": A, "B": B, "C": C, "M": 2, "N": 2, "K": 2, "alpha": 0.0, "beta": beta}
    unread = beta * C if beta else np.zeros_like(C)
    with np.errstate(invalid="ignore"):
        read = (np.float32(0) * (A.T if operation in ("gemm_tn", "gemm_tt") else A) @ np.ones_like(B) + unread).astype(
            np.float32
        )
    for got in (unread.astype(np.float32), read):
        assert all(verdict.passed for verdict in judge_outputs(operation, given, expect(operation, given), {"C": got}))
    wrong = np.where(np.isnan(unread), 0, 7).astype(np.float32)
    assert not all(
        verdict.passed for verdict in judge_outputs(operation, given, expect(operation, given), {"C": wrong})
    )
    given["alpha"] = 1.0
    assert not all(verdict.passed for verdict in judge_outputs(operation, given, expect(operation, given), {"C": read}))
