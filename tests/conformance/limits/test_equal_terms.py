"""Terms that are equal round alike, wherever the equal numbers stand: sums of them stay within what is due."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.judging.verdict import judge
from conformance.limits.expectation import expect


def _of_two(rng: np.random.Generator, lines: int, length: int, *, first: slice) -> np.ndarray:
    """Lines of two numbers each; those of `first` have the one."""
    numbers = rng.uniform(1.0, 2.0, (2, lines, 1)).astype(np.float32)
    return np.where(np.isin(np.arange(length), np.arange(length)[first]), *numbers)


@pytest.mark.parametrize("shifted", [slice(None, None, 2), slice(0, 520), slice(500, None)])
def test_a_product_of_two_numbers_over_and_over_is_as_far_off_as_may_be(shifted: slice) -> None:
    rng = np.random.default_rng(0)
    A, B = _of_two(rng, 17, 1024, first=slice(0, 512)), _of_two(rng, 9, 1024, first=shifted)
    total = np.zeros((17, 9), np.float32)
    for k in range(A.shape[1]):
        total = total + A[:, k, None] * B[None, :, k]
    expected = expect("gemm", {"A": A.astype(np.float64), "B": B.astype(np.float64)})
    assert judge("C", expected["C"], total).passed


def test_a_run_of_equal_tokens_anywhere_in_a_sum_is_counted() -> None:
    """As in a text with a rule of dashes, most of whose numbers are others."""
    rng = np.random.default_rng(1)
    A, B = (rng.standard_normal((rows, 128)).astype(np.float32) for rows in (64, 48))
    A[:, 70:115], B[:, 70:115] = np.abs(A[:, 70:71]) / 8, np.abs(B[:, 70:71]) / 8
    total = np.zeros((64, 48), np.float32)
    for k in range(128):
        total = total + A[:, k, None] * B[None, :, k]
    expected = expect("gemm", {"A": A.astype(np.float64), "B": B.astype(np.float64)})
    assert judge("C", expected["C"], total).passed
