"""The build's own functions of activations: within their stated errors over the range of floats, and at its ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bindings import Library
from reference.special import erfc

# Units in the last place, as cuda/src/vector/math.h states them; of Phi, an error of it.
SIGMOID, TANH, EXPM1 = 2.2, 2.4, 0.95
NORMAL = 2.0**-22.3
LOWEST = np.float32(-87.3)


def floats(low: float, high: float, stride: int = 1009) -> Any:
    """Every stride-th float between two numbers above 0, and what lies as far below it."""
    first, last = (int(np.float32(end).view(np.uint32)) for end in (low, high))
    above = np.arange(first, last, stride, dtype=np.uint32).view(np.float32)
    return np.concatenate([-above[::-1], above])


def units(got: Any, exact: Any) -> Any:
    """Errors in units in the last place of float32."""
    return np.abs(got - exact) / np.ldexp(1.0, np.maximum(np.frexp(exact)[1] - 24, -149))


@pytest.mark.parametrize(
    ("name", "function", "stated"),
    [
        ("sigmoid", lambda x: 1 / (1 + np.exp(-x)), SIGMOID),
        ("tanh", np.tanh, TANH),
        ("elu", lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))), EXPM1),
    ],
)
def test_within_its_stated_error(stub: Library, name: str, function: Callable[[Any], Any], stated: float) -> None:
    x = floats(1e-40, 100)
    x = x[x > LOWEST]  # below it a sigmoid is subnormal, and may be 0
    got = getattr(stub, name)(x, **({"alpha": 1.0} if name == "elu" else {}))
    assert units(got, function(x.astype(np.float64))).max() <= stated


def test_gelu_errs_by_what_phi_does_and_one_rounding(stub: Library) -> None:
    x = floats(1e-30, 1e4)
    wide = x.astype(np.float64)
    exact = wide * 0.5 * erfc(-wide / np.sqrt(2.0))
    assert (np.abs(stub.gelu(x) - exact) <= np.abs(wide) * NORMAL + np.abs(exact) * 2.0**-24).all()


def test_ends_of_the_range(stub: Library) -> None:
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, -1e-45, 3e38, -3e38], np.float32)
    nan, tiny, large = np.nan, np.float32(1e-45), np.float32(3e38)
    expected = {
        "relu": [nan, np.inf, 0, 0, 0, tiny, 0, large, 0],
        "sigmoid": [nan, 1, 0, 0.5, 0.5, 0.5, 0.5, 1, 0],
        "tanh": [nan, 1, -1, 0, 0, tiny, -tiny, 1, -1],
        "gelu": [nan, np.inf, nan, 0, 0, 0, 0, large, 0],
        "gelu_tanh": [nan, np.inf, nan, 0, 0, 0, 0, large, 0],
    }
    for name, due in expected.items():
        np.testing.assert_array_equal(getattr(stub, name)(x), np.array(due, np.float32), name)
    assert np.signbit(stub.tanh(x))[[2, 4, 6, 8]].all()


def test_gradients_of_large_numbers_are_those_of_the_branch(stub: Library) -> None:
    """No square or cube on the way becomes infinite where the result does not."""
    x = np.array([1e19, 2e19, 3e38, -1e19, -2e19, -3e38], np.float32)
    for name in ("gelu_backward", "gelu_tanh_backward"):
        assert getattr(stub, name)(x, np.full_like(x, 2.0)).tolist() == [2, 2, 2, 0, 0, 0]


@pytest.mark.parametrize("name", ["sigmoid", "tanh", "gelu", "gelu_tanh"])
def test_every_place_in_a_vector_gives_the_same_bits(stub: Library, name: str) -> None:
    """The last elements go another way than the whole vectors before them."""
    x = np.linspace(-9, 9, 131, dtype=np.float32)
    whole = getattr(stub, name)(x)
    for length in range(1, 66):
        np.testing.assert_array_equal(getattr(stub, name)(x[-length:].copy()), whole[-length:])
