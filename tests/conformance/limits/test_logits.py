"""The binary cross entropy of logits: PyTorch's formula is within the limits, and an infinite logit is left open."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.judging.outputs import judge_outputs
from conformance.limits.expectation import expect
from reference import random

OPERATION = "bce_logits_forward"


def as_pytorch(x: Any, t: Any) -> Any:
    """(1 - t) x - log(sigmoid(x)), in float32."""
    log_sigmoid = np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))
    return np.mean((1 - t) * x - log_sigmoid, keepdims=True)


@pytest.mark.parametrize("logits", [[-50.0], [50.0], [-50.0, 60.0, 3.0], list(np.linspace(-90, 90, 33))])
@pytest.mark.parametrize("soft", [False, True])
def test_another_formula_that_cancels_is_within_the_limits(logits: list[float], soft: bool) -> None:
    x = np.array(logits, np.float32)
    t = (x > 0).astype(np.float32)
    t = np.abs(t - random.uniform(1, x.shape).astype(np.float32) * np.float32(0.25)) if soft else t
    given = {"logits": x, "target": t}
    got = {"loss": as_pytorch(x, t).astype(np.float32)}
    assert [v.reason for v in judge_outputs(OPERATION, given, expect(OPERATION, given), got) if not v.passed] == []


def test_an_infinite_logit_is_left_open_and_a_nan_is_not() -> None:
    given = {"logits": np.array([1.0, np.inf], np.float32), "target": np.ones(2, np.float32)}
    assert np.isinf(expect(OPERATION, given)["loss"].variance).all()
    given["logits"][0] = np.nan
    assert np.isnan(expect(OPERATION, given)["loss"].v).all()
