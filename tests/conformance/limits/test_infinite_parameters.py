"""An infinite parameter whose decay is part of its gradient: what comes of it is left open, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.limits.expectation import expect
from tests.reference.samples import arguments


@pytest.mark.parametrize("operation", ["sgd_step", "momentum_step", "adam_step"])
@pytest.mark.parametrize("decay", [0.0, 0.125])
def test_what_comes_of_an_infinite_parameter_is_left_open(operation: str, decay: float) -> None:
    given = arguments(operation, np.float32) | {"weight_decay": decay}
    given["param"][3] = np.inf
    expected = expect(operation, given)
    assert {"param"} <= expected.keys()
    for name, value in expected.items():
        assert np.isinf(value.variance[3]), name
        assert np.isfinite(np.delete(value.variance, 3)).all(), name


def test_the_decay_of_a_coupled_step_is_none_of_its_bound() -> None:
    """Of a large parameter whose gradient its decay undoes, the step is next to nothing: so is its error."""
    given = arguments("adam_step", np.float32) | {"lr": 1.0, "weight_decay": 1.0}
    given["param"] = np.full(9, 2.0**20, np.float32)
    given["grad"] = -given["param"]
    coupled = expect("adam_step", given)["param"].reach
    decoupled = expect("adamw_step", given)["param"].reach
    assert (coupled < decoupled).all()
