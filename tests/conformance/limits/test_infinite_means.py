"""The mean of numbers one of which is infinite: left open, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.limits.expectation import expect
from tests.reference.samples import arguments


@pytest.mark.parametrize(
    ("operation", "names"), [("layernorm", ("mean",)), ("batchnorm_training", ("mean", "running_mean"))]
)
def test_what_is_stored_of_an_infinite_mean_is_left_open(operation: str, names: tuple[str, ...]) -> None:
    given = arguments(operation, np.float32)
    place = (1, 1, 1) if operation == "batchnorm_training" else (1, 1)
    given["input"][place] = np.inf
    expected = expect(operation, given)
    for name in names:
        assert np.isinf(expected[name].variance[1]), name
        assert np.isfinite(np.delete(expected[name].variance, 1)).all(), name
    for name in expected.keys() - set(names):
        assert np.isfinite(expected[name].variance).all(), name


def test_a_mean_that_is_no_number_is_none() -> None:
    given = arguments("layernorm", np.float32)
    given["input"][0, 0], given["input"][1, :2] = np.nan, (np.inf, -np.inf)
    mean = expect("layernorm", given)["mean"]
    assert np.isnan(mean.v[:2]).all()
    assert np.isfinite(mean.variance).all()
