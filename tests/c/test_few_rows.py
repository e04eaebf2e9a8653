"""Products of a few rows, which take the other matrix as it lies, give the bits that those of many rows give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bindings import Library
from reference import random

MANY, DEPTH, COLUMNS = 60, 300, 161  # rows of several tiles; two panels deep; a last panel that is not whole


def normal(seed: int, *shape: int) -> np.ndarray:
    return random.normal(seed, shape).astype(np.float32)


@pytest.mark.parametrize("rows", [1, 5, 14])
@pytest.mark.parametrize("beta", [0.0, 0.5])
@pytest.mark.parametrize("operation", ["gemm_nn", "gemm_tn"])
def test_bits_are_those_of_many_rows(operation: str, beta: float, rows: int, stub_path: Path) -> None:
    product = getattr(Library(stub_path), operation)
    A, B, C = normal(1, MANY, DEPTH), normal(2, DEPTH, COLUMNS), normal(3, MANY, COLUMNS)
    few, many = (
        product(np.ascontiguousarray(a.T) if operation == "gemm_tn" else a, B, c, 1.5, beta)
        for a, c in ((A[:rows].copy(), C[:rows].copy()), (A, C.copy()))
    )
    np.testing.assert_array_equal(few, many[:rows])
