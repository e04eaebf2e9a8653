"""Contracts that name a matrix unit: what the unit computes stays within the limits, and what it does not is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conformance.limits import Contract, ContractError, Declaration, read_contract
from conformance.limits.contract import changed
from conformance.limits.expectation import expect
from conformance.limits.measure import limits
from conformance.limits.noise import Noisy, using
from reference.tensor_core import WARP_GROUP, MatrixUnit, dot, matrix_unit

Floats = Any
K = (5, 64, 1024)
SIZES = (12, 10)


def _positive(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.random(shape)


def _normal(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.normal(size=shape)


def _uneven(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.normal(size=shape) * 2.0 ** rng.integers(-6, 6, shape)


def _runs_of_one_sign(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.random(shape) * np.where(np.arange(shape[1]) < shape[1] // 2, 1, -1)


DATA = (_positive, _normal, _uneven, _runs_of_one_sign)


def product(A: Floats, B: Floats, operands: str, unit: MatrixUnit, instruction: int = 16) -> Floats:
    """A . B^T by instructions of so many products, in the order of k."""
    a, b = A[:, None, :], B[None, :, :]
    total = np.zeros((len(A), len(B)), np.float32)
    for at in range(0, A.shape[1], instruction):
        total = dot(a[..., at : at + instruction], b[..., at : at + instruction], total, operands, unit)
    return total


def shares(got: Floats, A: Floats, B: Floats, declared: Declaration) -> Floats:
    """|error| / limit of each element."""
    return shares_of(got, "gemm", {"A": A, "B": B}, declared)


def shares_of(got: Floats, operation: str, arguments: dict[str, Floats], declared: Declaration) -> Floats:
    with using(declared.arithmetic):
        (expected,) = expect(operation, arguments).values()
    assert isinstance(expected, Noisy)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(got == expected.v, 0.0, np.abs(got - expected.v) / limits(expected)[0])


def factors(draw: Any, k: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(k)
    return tuple(np.float32(draw(rng, (rows, k)).astype(np.float16)) for rows in SIZES)  # type: ignore[return-value]


@pytest.mark.parametrize("draw", DATA)
@pytest.mark.parametrize("k", K)
@pytest.mark.parametrize("architecture", [70, 75, 80, 90])
def test_the_unit_stays_within_its_limits(architecture: int, k: int, draw: Any) -> None:
    A, B = factors(draw, k)
    got = product(A, B, "float16", matrix_unit(architecture, "float16"))
    assert shares(got, A, B, Declaration(accumulator=f"tensor core sm_{architecture}")).max() < 1


@pytest.mark.parametrize("draw", DATA)
@pytest.mark.parametrize("architecture", [80, 90])
def test_the_sums_lean_and_the_limit_knows(architecture: int, draw: Any) -> None:
    A, B = factors(draw, 4096)
    unit = matrix_unit(architecture, "float16")
    got, declared = product(A, B, "float16", unit), Declaration(accumulator=f"tensor core sm_{architecture}")
    with using(declared.arithmetic):
        expected = expect("gemm", {"A": A, "B": B})["C"]
    assert np.abs(np.mean((got - expected.v) / expected.lean)) < 1
    if draw is _positive:  # beyond what chance does to a float32 library, and toward zero
        assert shares(got, A, B, Declaration()).max() > 1
        assert np.all(got < expected.v)
        assert np.all(expected.lean < 8 * (expected.v - got))  # and not by far


def _some_subnormal(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.normal(size=shape) * np.where(rng.random(shape) < 0.5, 2.0**-17, 1.0)


def _all_subnormal(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.normal(size=shape) * 2.0**-20


@pytest.mark.parametrize(("of_a", "of_b"), [(_some_subnormal, _some_subnormal), (_all_subnormal, _uneven)])
@pytest.mark.parametrize("k", [1, 2, *K])
@pytest.mark.parametrize("architecture", [70, 75, 80, 90])
def test_a_unit_may_take_subnormal_factors_as_they_are_written(architecture: int, k: int, of_a: Any, of_b: Any) -> None:
    """The header lets it, of numbers that are stored in float16."""
    A, B = factors(of_a, k)[0], factors(of_b, k)[1]
    got = product(A, B, "float16", matrix_unit(architecture, "float16"))
    given = {"A": A.astype(np.float16), "B": B.astype(np.float16)}
    if k < 1024:  # longer sums lean, and the kernels do not form them so
        assert shares_of(got, "router_gemm_fp16", given, Declaration()).max() < 1
    declared = Declaration(accumulator=f"tensor core sm_{architecture}")
    assert shares_of(got, "router_gemm_fp16", given, declared).max() < 1
    if of_a is _all_subnormal and k == 64:  # of the same numbers in float32
        assert shares(got, A, B, Declaration()).max() > 1


def test_limits_of_subnormal_factors_tell_when_those_are_taken_for_zero() -> None:
    A, B = factors(_all_subnormal, 64)[0], factors(_uneven, 64)[1]
    given = {"A": A.astype(np.float16), "B": B.astype(np.float16)}
    for accumulator in ("float32", "tensor core sm_70"):
        declared = Declaration(accumulator=accumulator)
        assert np.median(shares_of(np.zeros(SIZES), "router_gemm_fp16", given, declared)) > 10


def test_fp8_of_one_accumulator_keeps_fewer_digits() -> None:
    A, B = factors(_positive, 1024)
    got = product(A, B, "float16", WARP_GROUP["wgmma"], 32)
    assert shares(got, A, B, Declaration(accumulator="tensor core sm_89 fp8")).max() < 1
    assert shares(got, A, B, Declaration(accumulator="tensor core sm_90")).max() > 10


@pytest.mark.parametrize(("coarse", "fine"), [(70, 80), (80, 90)])
def test_an_older_unit_is_told_from_a_newer_one_where_sums_are_long(coarse: int, fine: int) -> None:
    A, B = factors(_positive, 8192)
    got = product(A, B, "float16", matrix_unit(coarse, "float16"))
    finer = product(A, B, "float16", matrix_unit(fine, "float16"))
    declared = Declaration(accumulator=f"tensor core sm_{fine}")
    assert shares(got, A, B, declared).max() > 1.5 * shares(finer, A, B, declared).max()


def test_a_library_that_sums_in_float32_is_finer_than_the_unit() -> None:
    for draw in DATA:
        A, B = factors(draw, 1024)
        total = np.zeros(SIZES, np.float32)
        for k in range(A.shape[1]):
            total = total + A[:, None, k] * B[None, :, k]
        for accumulator in ("tensor core sm_80", "tensor core sm_90"):
            assert shares(total, A, B, Declaration(accumulator=accumulator)).max() < 1


def test_what_the_unit_does_not_do_is_found() -> None:
    A, B = factors(_normal, 1024)
    unit, declared = matrix_unit(90, "float16"), Declaration(accumulator="tensor core sm_90")
    in_half = np.zeros(SIZES, np.float16)
    for at in range(0, A.shape[1], 16):
        in_half = dot(A[:, None, at : at + 16], B[None, :, at : at + 16], in_half, "float16", unit, "float16")
    twice = product(A, B, "float16", unit) + product(A[:, 32:48], B[:, 32:48], "float16", unit)
    dropped = product(np.delete(A, slice(32, 48), 1), np.delete(B, slice(32, 48), 1), "float16", unit)
    for wrong in (in_half, twice, dropped):
        assert shares(wrong.astype(np.float32), A, B, declared).max() > 10


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            'accumulator = "tensor core sm_61"',
            "accumulator: expected one of float32, tf32, float16, bfloat16, tensor core",
        ),
        ('inputs = "tf32"\naccumulator = "tensor core sm_75"', "inputs: expected a format that tensor core sm_75 mult"),
        ('inputs = "bfloat16"\naccumulator = "tensor core sm_70"', "multiplies, got bfloat16"),
    ],
)
def test_a_unit_that_is_not_there_is_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f'[operations."gemm*"]\n{text}\n')
    with pytest.raises(ContractError) as error:
        read_contract(str(path))
    assert said in str(error.value)


def test_a_contract_states_it(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[operations."*gemm*"]\ninputs = "bfloat16"\naccumulator = "tensor core sm_80"\n')
    declared = read_contract(str(path)).of("gemm")
    assert str(declared) == "inputs bfloat16, accumulator tensor core sm_80"
    assert declared.truncates
    assert not Declaration().truncates
    assert not Contract("mine", changes=(changed("gemm", {"accumulator": "tensor core sm_80"}),)).is_header
