"""No warning where numbers lie at the ends of a type and a scalar or another type carries the result past them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference
from reference.ops import sixteen
from tests.errors import error_of
from tests.reference.samples import SAMPLES, arguments

LARGE = 3e38
OPERATIONS = sorted(SAMPLES.keys() - sixteen.OPERATIONS.keys())
SCALED = [op for op in OPERATIONS if any(isinstance(value, float) for value in arguments(op).values())]


@pytest.mark.parametrize("operation", SCALED)
def test_scalars_past_the_ends_are_no_reason_to_warn(operation: str) -> None:
    given = arguments(operation, np.float32)
    scalars = [name for name, value in given.items() if isinstance(value, float)]
    for name in scalars:
        for scalar in (LARGE, 1e-38):
            with np.errstate(all="warn"):
                error = error_of(ValueError, getattr(reference, operation), **given | {name: scalar})
            assert error is None or f"{operation}: {name}: expected" in str(error)


def one_hot(array: Any) -> Any:
    return np.resize(np.array([LARGE, 0.0], array.dtype), array.shape)


# An operation, what is large of its arguments, and what is put in place of others.
CARRIED: list[tuple[str, str, dict[str, Any]]] = [
    ("softmax_temperature_backward", "d_output", {"temperature": 1e-3}),
    ("attention_softmax_backward", "d_scores", {"scale": 1e3}),
    ("rmsnorm_residual_backward", "d_output d_residual_out", {"residual_out": np.eye(4, 6, 1, np.float32)}),
    ("rope_freqs", "", {"head_dim": 64, "base": 5e-324, "alpha": 1.0}),
    ("kv_cache_append", "", {"cache": np.full((2, 7, 2, 4), 1e300)}),
    ("scatter_add", "", {"grad_weight": np.full((6, 3), 1e300)}),
]


@pytest.mark.parametrize(("operation", "large", "others"), CARRIED)
def test_what_is_carried_past_the_largest_is_no_reason_to_warn(
    operation: str, large: str, others: dict[str, Any]
) -> None:
    given = arguments(operation, np.float32) | others
    given |= {name: one_hot(given[name]) for name in large.split()}
    with np.errstate(all="warn"):
        results = getattr(reference, operation)(**given)
    arrays = results if isinstance(results, tuple) else (results,)
    assert not all(np.isfinite(array).all() for array in arrays)
