"""Declared orders over k: which can be, and the bits that follow, against sums formed one instruction at a time."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conformance import operations
from conformance.judging.bits import held_to_bits, order_of
from conformance.judging.outputs import judge_outputs
from conformance.limits import ContractError, Declaration, read_contract
from conformance.limits.expectation import expect
from conformance.limits.k_order import KOrder
from conformance.limits.noise import using
from conformance.limits.ordered_sums import bits_due, fused
from reference.tensor_core import dot, matrix_unit

SM_80 = '[operations.gemm_bf16]\naccumulator = "tensor core sm_80"\nk_order = '
DECLARED = Declaration(accumulator="tensor core sm_80", k_order=KOrder(16))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "k_order = { instruction = 16 }",
            "k_order: expected in a table of operations that give a product of matrices",
        ),
        ("[operations.silu]\nk_order = { instruction = 16 }", "got it of silu"),
        ("[operations.gemm_bf16]\nk_order = { instruction = 16 }", "a matrix unit that multiplies bfloat16"),
        ('[operations.gemm]\naccumulator = "amx"\nk_order = { instruction = 32 }', "multiplies float32"),
        (SM_80 + "16", "expected a table such as { instruction = 16 }, got 16"),
        (SM_80 + "{}", "instruction: expected the k of one instruction, got an empty table"),
        (SM_80 + "{ slice = 16 }", "slice: expected one of instruction, promotion_interval, split_k, epilogue"),
        (SM_80 + "{ instruction = 32 }", "instruction: expected 8 or 16 of bfloat16, got 32"),
        (SM_80 + "{ instruction = 0 }", "instruction: expected a positive whole number, got 0"),
        (SM_80 + "{ instruction = 16, promotion_interval = 24 }", "expected whole instructions of 16, got 24"),
        (SM_80 + "{ instruction = 16, split_k = 24 }", "split_k: expected whole instructions of 16, got 24"),
        (SM_80 + '{ instruction = 16, split_k = "K <" }', "split_k: expected a whole number of sizes"),
        (SM_80 + '{ instruction = 16, split_k = "L / 2" }', "gemm_bf16 has no size L; expected one of M, K, N"),
        (SM_80 + '{ instruction = 16, epilogue = "fma" }', "epilogue: expected one of alpha * sum + beta * C"),
        (SM_80 + "{ instruction = 16, where = 16 }", "where: expected a condition on sizes, got 16"),
        (SM_80 + '{ instruction = 16, where = "K" }', "where: expected a condition on sizes, such as"),
        (SM_80 + '{ instruction = 16, where = "L > 16" }', "gemm_bf16 has no size L; expected one of M, K, N"),
        (SM_80 + "{ instruction = 16 }\ndeterministic = false", "deterministic: expected true beside an order, got no"),
        (SM_80 + '{ instruction = 16 }\nrounding = "toward zero"', "rounding: expected nearest beside an order"),
    ],
)
def test_an_order_that_cannot_be_is_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(ContractError) as error:
        read_contract(str(path))
    assert str(path) in str(error.value)
    assert said in str(error.value)


def _call(k: int = 80) -> dict[str, Any]:
    rng = np.random.default_rng(k)
    given = {"A": rng.normal(size=(6, k)), "B": rng.normal(size=(5, k))}
    return operations.typed(operations.OPERATIONS["gemm_bf16"], given)


def _by_hand(A: Any, B: Any, order: list[int], step: int = 16) -> Any:
    """One accumulator, instructions in some order."""
    total = np.zeros((len(A), len(B)), np.float32)
    for at in order:
        k = slice(at, at + step)
        total = dot(A[:, None, k], B[None, :, k], total, "bfloat16", matrix_unit(80, "bfloat16"))
    return operations.narrowed("gemm_bf16", {"C": total})["C"]


def _held(arguments: dict[str, Any], got: Any, declared: Declaration = DECLARED) -> Any:
    with using(declared.arithmetic):
        expected = expect("gemm_bf16", arguments)
        verdicts = judge_outputs("gemm_bf16", arguments, expected, {"C": got})
    return verdicts, held_to_bits("gemm_bf16", arguments, declared, {"C": got}, verdicts)


def test_bits_follow_from_the_order() -> None:
    arguments = _call()
    due, known = bits_due("gemm_bf16", arguments, DECLARED)["C"]
    assert known.all()
    assert np.array_equal(due, _by_hand(arguments["A"], arguments["B"], [0, 16, 32, 48, 64]))


def test_equal_bits_are_counted() -> None:
    arguments = _call()
    _, held = _held(arguments, _by_hand(arguments["A"], arguments["B"], [0, 16, 32, 48, 64]))
    assert [(one.passed, one.same_bits) for one in held] == [(True, 30)]


@pytest.mark.parametrize(
    ("order", "named"),
    [([16, 0, 48, 32, 64], "neighbouring instructions exchanged"), ([64, 48, 32, 16, 0], "k descending")],
)
def test_another_order_is_within_the_limits_and_is_named(order: list[int], named: str) -> None:
    arguments = _call()
    arguments["A"][:, 16:32], arguments["B"][:, 16:32] = 1.0, 1.0  # so that bfloat16 shows what float32 rounds
    arguments["A"][:, :16] *= np.float32(2.0**14)
    arguments["A"][:, 32:48] = -arguments["A"][:, :16]
    arguments["B"][:, 32:48] = arguments["B"][:, :16]
    got = _by_hand(arguments["A"], arguments["B"], order)
    verdicts, held = _held(arguments, got)
    assert all(one.passed for one in verdicts)
    assert not held[0].passed
    assert "the declared order gives" in held[0].reason
    assert "0x" in held[0].reason
    assert named in order_of("gemm_bf16", arguments, DECLARED, {"C": got}, held).text


def test_what_no_device_was_asked_is_left_to_the_limits() -> None:
    arguments = _call()
    arguments["A"][2, 3] = np.float32(2.0**-130)
    arguments["A"][4, 5] = np.inf
    known = bits_due("gemm_bf16", arguments, DECLARED)["C"][1]
    assert [bool(row.all()) for row in known] == [True, True, False, True, False, True]


def test_sums_that_a_processor_may_flush_are_left_to_the_limits() -> None:
    declared = Declaration(accumulator="amx", k_order=KOrder(32))
    arguments = _call()
    assert bits_due("gemm_bf16", arguments, declared)["C"][1].all()
    arguments["A"][0, 0] = np.float32(2.0**-115)
    assert not bits_due("gemm_bf16", arguments, declared)["C"][1].any()


@pytest.mark.parametrize(("where", "is_of"), [("K > 80", False), ("K >= 80", True), ("M < N or K % 16 == 0", True)])
def test_calls_that_an_order_is_not_of_are_held_to_limits_alone(where: str, is_of: bool) -> None:
    declared = replace(DECLARED, k_order=KOrder(16, where=where))
    _, held = _held(_call(), _by_hand(*(_call()[name] for name in "AB"), [0, 16, 32, 48, 64]), declared)
    assert [(one.passed, one.same_bits) for one in held] == [(True, 30 if is_of else None)]


def test_parts_of_k_are_added_in_their_order() -> None:
    arguments = _call(96)
    whole, two = KOrder(16), KOrder(16, split_k="(K + 1) / 2")
    assert [order.part({"K": 96}, 96) for order in (whole, two)] == [96, 48]
    declared = Declaration(accumulator="tensor core sm_80", k_order=two)
    A, B = arguments["A"], arguments["B"]
    parts = [dot(A[:, None, k], B[None, :, k], np.zeros((6, 5), np.float32), "bfloat16", matrix_unit(80, "bfloat16"))
             for k in (slice(0, 48), slice(48, 96))]  # fmt: skip
    due = bits_due("gemm_bf16", arguments, declared)["C"][0]
    assert np.array_equal(due, operations.narrowed("gemm_bf16", {"C": parts[0] + parts[1]})["C"])


def test_a_fused_multiply_add_rounds_once() -> None:
    rng = np.random.default_rng(5)
    a, b = (rng.normal(size=500).astype(np.float32) for _ in range(2))
    c = (-a * b * np.float32(1 + 2.0**-23)).astype(np.float32)
    for x, y, z, got in zip(a, b, c, fused(a, b, c), strict=True):
        exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        near = [np.nextafter(got, np.float32(way)) for way in (-np.inf, np.inf)]
        assert all(abs(Fraction(float(got)) - exact) <= abs(Fraction(float(one)) - exact) for one in near)
