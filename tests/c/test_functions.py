"""The build's own sine, cosine, error function and power, over their ranges and at their ends."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from bindings import Library
from tensors.numbers import MAPS, ZIPS
from tests.c.test_exp import floats

MOST_ANGLE = 2.0**23
ULPS = {"sin": 0.91, "cos": 0.91, "erf": 1.25, "power": 0.51}  # stated in cuda/src/vector/functions.h
EXACT: dict[str, Any] = {"sin": np.sin, "cos": np.cos, "erf": np.vectorize(math.erf, otypes=[np.float64])}
RANGES = {"sin": (1e-30, MOST_ANGLE), "cos": (1e-30, MOST_ANGLE), "erf": (1e-30, 6.0)}


def mapped(stub: Library, name: str, x: Any) -> Any:
    shape, strides = np.array(x.shape), np.array([1])
    return stub.map_strided(x, np.empty_like(x), shape, strides, strides, 0, 0, MAPS[name])


def power(stub: Library, a: Any, b: Any) -> Any:
    shape, strides = np.array(a.shape), np.array([1])
    return stub.zip_strided(a, b, np.empty_like(a), shape, strides, strides, strides, 0, 0, 0, ZIPS["power"])


def ulps(got: Any, exact: Any) -> Any:
    return np.abs(got - exact) / np.ldexp(1.0, np.frexp(exact)[1] - 24)


@pytest.mark.parametrize("name", RANGES)
@pytest.mark.parametrize("sign", [1, -1])
def test_within_its_stated_error_over_the_whole_range(stub: Library, name: str, sign: int) -> None:
    x = np.float32(sign) * floats(*RANGES[name], stride=2003)
    assert ulps(mapped(stub, name, x), EXACT[name](x.astype(np.float64))).max() <= ULPS[name]


@pytest.mark.parametrize("reach", [(80.0, 1.0), (1.0, 80.0), (0.5, 170.0)], ids=["bases", "both", "exponents"])
def test_powers_are_within_their_stated_error(stub: Library, reach: tuple[float, float]) -> None:
    rng = np.random.default_rng(7)
    a = np.exp(rng.uniform(-reach[0], reach[0], 200_000)).astype(np.float32)
    b = rng.uniform(-reach[1], reach[1], a.size).astype(np.float32)
    with np.errstate(over="ignore"):
        exact = np.power(a.astype(np.longdouble), b).astype(np.float64)
    normal = (exact < float(np.finfo(np.float32).max)) & (exact > 2.0**-126)
    assert normal.sum() > 50_000
    assert ulps(power(stub, a, b), exact)[normal].max() <= ULPS["power"]


def test_whole_powers_of_negative_numbers(stub: Library) -> None:
    bases, exponents = (v.ravel().astype(np.float32) for v in np.meshgrid([-3, -1, -0.5], [-3, -2, 0, 1, 2, 7, 2**24]))
    got = power(stub, bases, exponents)
    with np.errstate(over="ignore"):
        assert np.array_equal(got, np.power(bases.astype(np.float64), exponents).astype(np.float32))
    assert np.isnan(power(stub, bases[:3], np.full(3, 0.5, np.float32))).all()


@pytest.mark.parametrize("beside", [0, 40])
def test_ends_of_the_ranges(stub: Library, beside: int) -> None:
    """What a lane does not do stands alone, or among what it does."""
    among = np.linspace(-3, 3, beside, dtype=np.float32)
    ends = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, MOST_ANGLE, 2 * MOST_ANGLE, -1e30], np.float32)
    x = np.concatenate([among, ends])
    for name, exact in EXACT.items():
        with np.errstate(invalid="ignore"):
            expected = exact(ends.astype(np.float64)).astype(np.float32)
        got = mapped(stub, name, x)[beside:]
        np.testing.assert_allclose(got, expected, rtol=(ULPS[name] + 0.5) * 2.0**-23, atol=0.0)
        assert np.array_equal(np.signbit(got[3:]), np.signbit(expected[3:]))


def test_powers_of_what_is_no_number_of_its_own(stub: Library) -> None:
    special = np.array([0, -0.0, 1, -1, 2, np.inf, -np.inf, np.nan, 3, 1e-45, 3e38, 2**24 + 2, -3], np.float32)
    a, b = (v.ravel() for v in np.meshgrid(special, special))
    with np.errstate(all="ignore"):
        expected = np.power(a.astype(np.float64), b.astype(np.float64)).astype(np.float32)
    got = power(stub, a, b)
    np.testing.assert_array_equal(got, expected)
    numbers = ~np.isnan(expected)
    assert np.array_equal(np.signbit(got[numbers]), np.signbit(expected[numbers]))
