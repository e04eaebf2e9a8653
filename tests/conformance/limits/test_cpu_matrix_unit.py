"""Contracts that name a processor's unit for bfloat16: what it computes stays within the limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from conformance.limits import ContractError, Declaration, read_contract
from conformance.limits.expectation import expect
from conformance.limits.measure import limits
from conformance.limits.noise import Noisy, using
from reference.cpu_matrix_unit import FACTORS, UNITS

K = (32, 96, 1024)
SIZES = (12, 10)
Floats = Any


def _numbers(seed: int, k: int, scale: float = 1.0, spread: int = 0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    drawn = (rng.normal(size=(rows, k)) * scale * 2.0 ** rng.integers(-spread, spread + 1, (rows, k)) for rows in SIZES)
    A, B = (x.astype(ml_dtypes.bfloat16).astype(np.float32) for x in drawn)
    return A, B


def _product(name: str, A: Floats, B: Floats) -> Floats:
    return UNITS[name](A[:, None], B[None], np.zeros(SIZES, np.float32))


def _limits(A: Floats, B: Floats, declared: Declaration) -> tuple[Floats, Floats]:
    """What is due, and the limit of each element."""
    with using(declared.arithmetic):
        expected = expect("gemm", {"A": A, "B": B})["C"]
    assert isinstance(expected, Noisy)
    return expected.v, limits(expected)[0]


@pytest.mark.parametrize("name", UNITS)
@pytest.mark.parametrize("k", K)
@pytest.mark.parametrize(("scale", "spread"), [(1.0, 0), (1.0, 20), (2.0**-63, 0), (2.0**-63, 3), (2.0**-66, 0)])
def test_the_unit_stays_within_its_limits(name: str, k: int, scale: float, spread: int) -> None:
    A, B = _numbers(k, k, scale, spread)
    due, limit = _limits(A, B, Declaration(accumulator=name))
    assert np.all(np.abs(_product(name, A, B) - due) <= limit)


@pytest.mark.parametrize("name", UNITS)
def test_flushed_sums_are_beyond_what_the_header_leaves(name: str) -> None:
    A, B = _numbers(1, 96, 2.0**-66)
    due, limit = _limits(A, B, Declaration())
    assert np.any(np.abs(_product(name, A, B) - due) > limit)


@pytest.mark.parametrize("name", UNITS)
def test_sums_that_cancel_to_a_subnormal_number_may_be_zero(name: str) -> None:
    """No product is subnormal, the sums are."""
    A, B = np.zeros((12, 32), np.float32), np.zeros((10, 32), np.float32)
    A[:, 0], A[:, 2], B[:, (0, 2)] = 2.0**-62, -(2.0**-62) * (1 + 2.0**-7), 2.0**-62
    assert np.all(_product(name, A, B) == 0)
    due, limit = _limits(A, B, Declaration(accumulator=name))
    assert np.all((np.abs(due) > 0) & (np.abs(due) <= limit))
    due, limit = _limits(A, B, Declaration())
    assert np.all(np.abs(due) > limit)


@pytest.mark.parametrize("name", UNITS)
def test_numbers_of_everyday_size_keep_the_limits_of_float32(name: str) -> None:
    A, B = _numbers(2, 64)
    assert np.array_equal(_limits(A, B, Declaration(accumulator=name))[1], _limits(A, B, Declaration())[1])


@pytest.mark.parametrize(("name", "inputs"), [("avx512_bf16", "float16"), ("amx", "tf32")])
def test_a_unit_multiplies_formats_of_its_own(name: str, inputs: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f'[operations.gemm]\naccumulator = "{name}"\ninputs = "{inputs}"\n', encoding="utf-8")
    with pytest.raises(ContractError, match=f"gemm: inputs: expected a format that {name} multiplies, got {inputs}"):
        read_contract(str(path))
    for own in FACTORS[name]:
        path.write_text(f'[operations.gemm]\naccumulator = "{name}"\ninputs = "{own}"\n', encoding="utf-8")
        declared = read_contract(str(path)).of("gemm")
        assert declared.arithmetic.flushes_products
        assert not declared.truncates


def _limits_of(operation: str, accumulator: str, **arguments: Any) -> Floats:
    with using(Declaration(accumulator=accumulator).arithmetic):
        expected = expect(operation, arguments)
    return np.concatenate([limits(wanted)[0].ravel() for wanted in expected.values() if isinstance(wanted, Noisy)])


SUBNORMAL = np.float32(2.0**-130)


@pytest.mark.parametrize("name", UNITS)
@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("mul", {"a": np.ones(40, np.float32), "b": np.full(40, SUBNORMAL)}),
        ("silu", {"input": np.full(40, SUBNORMAL)}),
        ("multi_sum_squares", {"inputs": [np.full(40, 2.0**-65, np.float32)]}),
        ("softmax", {"input": np.array([[0, -88, -90, 1]], np.float32)}),
    ],
)
def test_what_multiplies_no_matrices_keeps_subnormal_numbers(
    name: str, operation: str, arguments: dict[str, Any]
) -> None:
    """Under a unit that is declared of every operation, too."""
    assert np.array_equal(_limits_of(operation, name, **arguments), _limits_of(operation, "float32", **arguments))


@pytest.mark.parametrize("name", UNITS)
@pytest.mark.parametrize("least", [0.0, 2.0**-70])
def test_what_a_product_is_added_to_may_be_its_first_term(name: str, least: float) -> None:
    """C of gemm_beta, subnormal: the unit begins with it, and takes it for zero."""
    A, B = np.zeros((12, 32), np.float32), np.zeros((10, 32), np.float32)
    A[:, 0] = B[:, 0] = least
    C = np.full(SIZES, 2.0**-127, np.float32)
    with using(Declaration(accumulator=name).arithmetic):
        expected = expect("gemm_beta", {"A": A, "B": B, "C": C, "alpha": 1.0, "beta": 1.0})["C"]
    unit = UNITS[name](A[:, None], B[None], C)
    assert np.all(unit == 0)
    assert np.all(np.abs(unit - expected.v) <= limits(expected)[0])
