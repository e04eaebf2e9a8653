"""The oracles: one for every operation, and each finds an expectation that is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance import operations
from conformance.catalogue.cases import CASES, Case
from conformance.catalogue.oracles.confirm import confirm
from conformance.catalogue.oracles.numbers import Decimal, cosine_sine, precise
from conformance.limits.expectation import expect
from conformance.limits.noise import Noisy


def elements(case: Case) -> int:
    return sum(a.size for a in operations.flat(case.arguments()).values() if isinstance(a, np.ndarray))


# Two numbers that are normalised stay where they are: of their gradient nothing is left but rounding.
_LEAST = {"batchnorm_backward": 16}


def smallest(operation: str) -> Case:
    """The operation's smallest case of at least five numbers: so small that a test of every operation is quick."""
    plain = [c for c in CASES.values() if c.operation == operation and c.data in ("plain", "accumulate")]
    return min((c for c in plain if elements(c) >= _LEAST.get(operation, 5)), key=elements, default=plain[0])


def moved(expected: dict[str, Any], name: str, by: float) -> dict[str, Any]:
    """The expectation with its largest finite element off by a share."""
    value = expected[name]
    if not isinstance(value, Noisy):
        return {**expected, name: value + 1}
    change = np.zeros(value.v.size)
    place = np.argmax(np.where(np.isfinite(value.v), np.abs(value.v), 0.0))
    change[place] = value.v.ravel()[place] * by
    return {**expected, name: Noisy(value.v + change.reshape(value.v.shape), value.variance, value.shared, value.worst)}


@pytest.mark.parametrize("operation", operations.OPERATIONS)
def test_it_confirms_what_is_right_and_finds_what_is_wrong(operation: str) -> None:
    case = smallest(operation)
    arguments = case.arguments()
    expected = expect(operation, arguments)
    right = confirm(operation, arguments, expected)
    assert right is not None
    assert right.agrees, right
    for name in expected:
        wrong = confirm(operation, arguments, moved(expected, name, 1e-9))
        assert wrong is not None
        assert not wrong.agrees, f"{name} is off by 1e-9 and nothing was noticed"


def test_special_values_are_compared_too() -> None:
    case = next(c for c in CASES.values() if c.operation == "softmax" and c.data == "special")
    arguments = case.arguments()
    expected = expect("softmax", arguments)
    value = expected["output"]
    assert np.isnan(value.v).any()
    filled = Noisy(np.where(np.isnan(value.v), 0.0, value.v), value.variance, value.shared, value.worst)
    for claimed, agrees in ((value, True), (filled, False)):
        confirmation = confirm("softmax", arguments, {"output": claimed})
        assert confirmation is not None
        assert confirmation.agrees == agrees


def test_a_gradient_without_a_finite_value_is_left_unconfirmed() -> None:
    case = next(c for c in CASES.values() if c.operation == "silu_backward" and c.data == "special")
    arguments = case.arguments()
    assert confirm("silu_backward", arguments, expect("silu_backward", arguments)) is None


@pytest.mark.parametrize("angle", ["0", "1", "-2.5", "1000.25"])
def test_cosine_and_sine(angle: str) -> None:
    with precise():
        cos, sin = cosine_sine(Decimal(angle))
        assert abs(cos * cos + sin * sin - 1) < Decimal("1e-37")
    ours, theirs = np.array([float(cos), float(sin)]), np.array([np.cos(float(angle)), np.sin(float(angle))])
    np.testing.assert_array_almost_equal_nulp(ours, theirs, nulp=4)  # what NumPy claims of its own
