"""Which matrix unit has formed a sum: told of every one that is known, and of float32."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.judging.bench import Bench
from conformance.judging.probes import judge_probe
from conformance.judging.probes.units import FLOAT, LENGTH, ROWS, UNITS, Unit
from conformance.judging.results import Result, Status
from conformance.limits import HEADER, Contract, Declaration, read_contract
from reference.tensor_core import dot
from tests.conformance.runs import InProcess


def probed(gemm: Any, declared: Contract = HEADER) -> Result:
    return judge_probe("probe/gemm/matrix_unit", Bench(InProcess(gemm=gemm), declared=declared))


def by_unit(unit: Unit) -> Any:
    """gemm on a tensor core."""

    def gemm(A: Any, B: Any) -> Any:
        total = np.zeros((len(A), len(B)), np.float32)
        for at in range(0, A.shape[1], unit.instruction):
            a, b = (x[:, at : at + unit.instruction] for x in (A, B))
            assert unit.cuts
            if unit.operands == "e4m3":
                a = np.where(np.abs(a) < 2.0**-9, 0, a)
            total = dot(a[:, None], b[None, :1], total[:, :1], unit.operands, unit.cuts)
            total = np.broadcast_to(total, (len(A), len(B)))
        return total.copy()

    return gemm


def in_float32(A: Any, B: Any) -> Any:
    total = np.zeros((len(A), len(B)), np.float32)
    for k in range(A.shape[1]):
        total = total + A[:, k, None] * B[None, :, k]
    return total


def by_amx(A: Any, B: Any) -> Any:
    """Tiles of 32 products: sums of those at even places, of those at odd ones, then both and what was there."""
    total = np.zeros((len(A), len(B)), np.float32)
    for at in range(0, A.shape[1], 32):
        halves = [in_float32(A[:, at + i : at + 32 : 2], B[:, at + i : at + 32 : 2]) for i in (0, 1)]
        total = total + (halves[0] + halves[1])
    return total


def cut_after_each(A: Any, B: Any) -> Any:
    total = np.zeros((len(A), len(B)))
    for k in range(A.shape[1]):
        exact = total + A[:, k, None].astype(float) * B[None, :, k]
        total = np.sign(exact) * np.floor(np.abs(exact) * 2.0**18) / 2.0**18
    return total.astype(np.float32)


def test_every_unit_ends_some_row_otherwise() -> None:
    assert len({unit.sums() for unit in UNITS}) == len(UNITS)
    assert all(0 <= place < LENGTH for row in ROWS for place, _ in row)


@pytest.mark.parametrize("unit", [unit for unit in UNITS if unit.cuts], ids=lambda unit: unit.name)
def test_a_tensor_core_is_told_by_its_name(unit: Unit) -> None:
    assert probed(by_unit(unit)).detail == unit.name


def test_others_are_told_from_them() -> None:
    assert probed(by_amx).detail == "AMX"
    assert probed(in_float32).detail == FLOAT.name
    assert probed(lambda A, B: (A.astype(float) @ B.T.astype(float)).astype(np.float32)).detail == FLOAT.name
    assert probed(cut_after_each).detail == "a unit that cuts, none of the known ones"


def test_a_unit_of_fewer_digits_than_declared_fails() -> None:
    old, new = (by_unit(unit) for unit in (UNITS[1], UNITS[3]))
    declared = {sm: Contract("mine", Declaration(accumulator=f"tensor core {sm}")) for sm in ("sm_80", "sm_90")}
    assert probed(new, declared["sm_80"]).status is Status.PASS
    assert probed(old, declared["sm_80"]).status is Status.PASS
    wrong = probed(old, declared["sm_90"])
    assert wrong.status is Status.FAIL
    assert wrong.reason == "declared tensor core sm_90 sums; found tensor core sm_75 to sm_89"
    fp8 = by_unit(next(unit for unit in UNITS if unit.name.endswith("sm_89, in fp8")))
    assert probed(fp8, read_contract("bf16")).status is Status.FAIL
    assert probed(fp8, Contract("mine", Declaration(accumulator="tensor core sm_89 fp8"))).status is Status.PASS
    assert probed(old, read_contract("bf16")).status is Status.PASS
