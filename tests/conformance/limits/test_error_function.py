"""What erf errs by: as much as the GELUs in use do, by whatever formula."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import reference
from conformance.judging.verdict import judge
from conformance.limits.noise import FLOAT32, exact
from reference import special

Floats = NDArray[Any]
ROOT_HALF = np.float32(0.5**0.5)
# Abramowitz and Stegun 1964, formula 7.1.26.
P = 0.3275911
A = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)


def of_table(x: Floats) -> Floats:
    """The formula, every step in the type of x."""
    size = np.abs(x)
    t = 1 / (1 + x.dtype.type(P) * size)
    polynomial = reduce(lambda total, a: total * t + x.dtype.type(a), A[1:], np.full_like(x, A[0]))
    return np.copysign(1 - polynomial * t * np.exp(-(size * size)), x)


def in_polynomial(x: Floats) -> Floats:
    """Where erf is near 1, off by up to twelve u, three in the mean: as much as oneDNN's GELU is there."""
    v = special.erf(x.astype(np.float64))
    off = np.clip(3 * np.random.default_rng(1).normal(size=x.shape), -12, 12) * FLOAT32.unit
    return np.asarray(v + np.where(np.abs(v) > 0.9, off, 0.0), np.float32)


def gelu(x: Floats, erf: Callable[[Floats], Floats]) -> Floats:
    return x * np.float32(0.5) * (1 + erf(x * ROOT_HALF))


def test_the_formula_is_off_by_as_much_as_its_book_says() -> None:
    x = np.linspace(0, 6, 200_001)
    off = np.abs(of_table(x) - special.erf(x))
    assert 1e-7 < off.max() <= 1.5e-7


@pytest.mark.parametrize("erf", [of_table, in_polynomial, special.erf])
@pytest.mark.parametrize("scale", [2.0**-11, 0.05, 1.0, 3.0])
@pytest.mark.parametrize("seed", range(4))
def test_honest_error_functions_lie_within_its_noise(erf: Callable[[Floats], Floats], scale: float, seed: int) -> None:
    x = (np.random.default_rng(seed).normal(size=8193) * scale).astype(np.float32)
    verdict = judge("output", reference.gelu(exact(x)), gelu(x, erf))
    assert verdict.passed, verdict.reason


@pytest.mark.parametrize("off", [32.0, 200.0])
def test_one_that_errs_more_is_seen(off: float) -> None:
    x = np.random.default_rng(0).normal(size=8193).astype(np.float32)
    erred = gelu(x, lambda a: np.float32(special.erf(a) + np.float32(off * FLOAT32.unit)))
    assert not judge("output", reference.gelu(exact(x)), erred).passed
