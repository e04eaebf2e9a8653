"""Attention backward by matrix units: places past the last query weigh nothing, whatever the keys hold."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from bindings import Library

HEADS, WIDTH, INFINITE = 2, 16, 5


@pytest.fixture(scope="module")
def emulated(emulated_path: Path) -> Library:
    return Library(emulated_path)


@pytest.mark.parametrize("queries", [31, 32, 33, 64, 65])
def test_a_key_with_an_infinity_that_every_query_leaves_out(queries: int, emulated: Library) -> None:
    """Its scores are -inf: its weights are 0, and so are its gradients but for where 0 meets the infinity."""
    draw = np.random.default_rng(queries)
    Q, d_output = draw.standard_normal((2, 1, queries, HEADS, WIDTH), np.float32).astype(ml_dtypes.bfloat16)
    K, V = draw.standard_normal((2, 1, queries, 1, WIDTH), np.float32).astype(ml_dtypes.bfloat16)
    Q[..., 0] = -np.abs(Q[..., 0].astype(np.float32)) - 0.125
    K[0, INFINITE, 0, 0] = np.inf
    output, lse = emulated.attention_forward_bf16(Q, K, V, queries, 0.25)
    _, d_K, d_V = emulated.attention_backward_bf16(Q, K, V, output, lse, d_output, 0.25)
    assert np.all(d_V[0, INFINITE] == 0)
    assert np.all(d_K[0, INFINITE] == 0)
