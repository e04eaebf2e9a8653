"""Steps that store their results in 16 bits: declared, an honest library passes; the same library fails without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import reference
from conformance.candidates.worker.worker import Worker
from conformance.catalogue.cases import CASES, Case
from conformance.judging import outputs
from conformance.judging.bench import Bench
from conformance.judging.preparation import Preparation
from conformance.judging.results import Status
from conformance.limits import HEADER, Contract, Declaration, read_contract
from conformance.limits.expectation import expect
from conformance.limits.noise import FLOAT32, FORMATS, Arithmetic, Noisy, exact, using
from conformance.operations import OPERATIONS
from conformance.proof.false_alarms import judge_case, known_implementations
from conformance.variants.honest.eager import eager
from reference.readings import READINGS
from tests.compiler import compile_library
from tests.conformance.runs import InProcess

BFLOAT16 = FORMATS["bfloat16"]
EAGER = Contract("mine", Declaration(intermediate="bfloat16"))
CURVED = (
    *("silu", "silu_backward", "swiglu_backward", "softmax", "softmax_backward", "rmsnorm", "rmsnorm_backward"),
    *("rope_forward", "cross_entropy_forward", "cross_entropy_backward", "attention_forward", "attention_backward"),
    *("gemm", "adamw_step", "grad_clip", "aux_loss_forward"),
)
SOURCE = Path(__file__).with_name("eager.c")


def few(operation: str, count: int = 12) -> list[Case]:
    return [case for case in CASES.values() if case.operation == operation][:count]


def noisy(x: Any, **arithmetic: Any) -> Noisy:
    """What an arithmetic makes of a formula of x, which is exact."""
    with using(Arithmetic(**arithmetic)), np.errstate(all="ignore"):
        return x(exact)


# ---- what a step is ----------------------------------------------------------------------------------------------
def test_each_step_on_an_array_is_one_rounding_more() -> None:
    values = 1 + np.random.default_rng(0).random(50)
    steps = {
        "a product": lambda number: number(values) * number(values[::-1]),
        "a sum": lambda number: number(values) + number(values[::-1]),
        "a root": lambda number: np.sqrt(number(values)),
        "an exponential": lambda number: np.exp(number(values)),
        "a sum over an axis": lambda number: np.sum(number(values)[None], axis=-1),
        "a matrix product": lambda number: number(values)[None] @ number(values[::-1])[:, None],
    }
    for name, step in steps.items():
        plain, short = noisy(step), noisy(step, intermediate=BFLOAT16)
        assert short.worst is not None
        assert plain.worst is not None
        off = short.worst - plain.worst - BFLOAT16.unit * np.abs(short.v)
        assert np.all(np.abs(off) <= 2.0**-52 * short.worst), name  # two roundings of float64


def test_what_moves_chooses_or_is_of_numbers_alone_is_no_step() -> None:
    values = np.random.default_rng(0).normal(size=(3, 4))
    for step in (
        lambda number: -number(values).reshape(4, 3),
        lambda number: np.maximum(number(values), 0.5),
        lambda number: np.where(values > 0, number(values), 1.0),
        lambda number: number(np.float64(0.1)) * number(np.float64(0.3)),
    ):
        plain, short = noisy(step), noisy(step, intermediate=BFLOAT16)
        assert np.array_equal(plain.variance, short.variance)


def test_what_the_format_holds_is_stored_as_it_is() -> None:
    whole = np.arange(16.0)
    assert not noisy(lambda number: number(whole) + 1.0, intermediate=BFLOAT16).variance.any()
    assert noisy(lambda number: number(whole) + 1001.0, intermediate=BFLOAT16).variance[:3].all()


def test_nothing_is_known_past_the_largest_number_of_the_format() -> None:
    squares = noisy(lambda number: number(np.array([100.0, 300.0])) ** 2, intermediate=FORMATS["float16"])
    assert np.isfinite(squares.variance).tolist() == [True, False]


def test_nor_of_infinity_beside_what_may_have_become_infinite() -> None:
    """65,504 is the largest number of float16: in float32 the sum is infinite, in float16 it may be no number."""
    terms = np.array([[np.inf, -300.0], [np.inf, 3.0]])
    for total in (
        lambda number: np.sum(number(terms) * np.abs(terms), axis=-1),
        lambda number: ((number(terms) * np.abs(terms)) @ number(np.ones((2, 1))))[:, 0],
    ):
        due = noisy(total, intermediate=FORMATS["float16"])
        assert np.isfinite(due.variance).tolist() == [False, True]
        assert np.isfinite(noisy(total).variance).all()


# ---- beyond the first order --------------------------------------------------------------------------------------
@pytest.mark.parametrize("operation", CURVED)
def test_an_honest_library_passes_and_fails_where_nothing_is_declared(operation: str) -> None:
    known = {n: one for n, one in known_implementations([], EAGER).items() if "eager" in n or n == "float32"}
    assert len(known) == 3
    runs = [run for case in few(operation) for run in judge_case(case.id, 3, known, EAGER)]
    assert [run for run in runs if run.line] == []
    whole = {"eager": known["bfloat16 eager"]}
    assert any(run.line for case in few(operation) for run in judge_case(case.id, 3, whole, HEADER))


@pytest.mark.parametrize("scale", [1.0, 30.0])
@pytest.mark.parametrize("columns", [1, 2, 300])
def test_scores_that_are_alike_err_alike(scale: float, columns: int) -> None:
    """Rows of two values: every exponential of one value is rounded to the same side."""
    x = np.float32(scale) * np.where(np.arange(columns) % 2, np.float32(-0.3), np.float32(0.4))[None].repeat(5, axis=0)
    with using(Arithmetic(intermediate=BFLOAT16)):
        due = expect("softmax", {"input": x})
    made = np.asarray(reference.softmax(x.view(eager(BFLOAT16))))
    assert outputs.passes("softmax", {"input": x}, due, {"output": made})


def test_arrays_of_another_library_s_16_bits_pass() -> None:
    """NumPy on ml_dtypes' bfloat16, which rounds after each of its functions."""
    short = {name: read_contract("eager-bf16").of(name) for name in OPERATIONS}
    assert {name for name, one in short.items() if one.intermediate == "bfloat16"} >= {"swiglu_bf16", "gemm_bf16"}
    assert short["multi_adamw_bf16"] == short["swiglu_fp16"] == short["swiglu"] == Declaration()
    for operation in ("swiglu_bf16", "swiglu_backward_bf16"):
        function = getattr(reference, operation.removesuffix("_bf16"))

        def carried_out(function: Any = function, **arguments: Any) -> Any:
            results = function(**{name: array.astype(ml_dtypes.bfloat16) for name, array in arguments.items()})
            stored = [np.asarray(one, np.float32) for one in (results if isinstance(results, tuple) else (results,))]
            return tuple(stored) if len(stored) > 1 else stored[0]

        made = InProcess(**{operation: carried_out})
        declared = [Bench(made, declared=read_contract("eager-bf16")).case(case) for case in few(operation)]
        assert {result.status for result in declared} == {Status.PASS}
    undeclared = {Bench(made, explains=False).case(case).status for case in few(operation)}  # the backward's
    assert Status.FAIL in undeclared


# ---- power -------------------------------------------------------------------------------------------------------
def test_a_shorter_format_than_the_declared_one_fails() -> None:
    coarse = {"eager": known_implementations([], EAGER)["bfloat16 eager"]}
    for declared in ("tf32", "float16"):
        contract = Contract("mine", Declaration(intermediate=declared))
        for operation in ("silu", "rmsnorm", "softmax", "gemm"):
            assert any(run.line for case in few(operation) for run in judge_case(case.id, 3, coarse, contract))


FINE = {"rope_forward: angles less turns of 2 pi in float32"}  # by 2e-7 a turn: less than bfloat16 keeps of an angle


@pytest.mark.slow
@pytest.mark.parametrize(
    "operation", ["silu", "silu_backward", "rmsnorm", "rmsnorm_backward", "swiglu", "rope_forward"]
)
def test_every_wrong_reading_still_fails(operation: str) -> None:
    preparation = Preparation(0, EAGER)
    cases = [case for case in few(operation, 25) if not preparation.case(case).weakness]
    for reading in (one for one in READINGS if one.operation == operation):
        declared = HEADER if reading.id in FINE else EAGER
        bench = Bench(InProcess(**{operation: reading.function}), declared=declared, explains=False)
        assert Status.FAIL in {bench.case(case).status for case in cases}, reading.id


def test_a_case_that_the_format_blinds_is_too_fine() -> None:
    found = Bench(InProcess(), declared=EAGER).case(CASES["flash_attention/swamp/2x4x2x9x4x0.5"])
    assert found.status is Status.TOO_FINE


def test_no_output_that_needs_no_computing_passes_a_case_that_is_judged() -> None:
    preparation = Preparation(0, EAGER)
    for case in (case for operation in CURVED for case in few(operation, 4)):
        arguments, expected, weakness = preparation.case(case)
        if weakness:
            continue
        for name, made in outputs.impostors(case.operation, arguments, expected, {}).items():
            assert not outputs.passes(case.operation, arguments, expected, made, case.spec.signed_zeros), (
                case.id,
                name,
            )


@pytest.mark.parametrize("wrong", [0, 1])
@pytest.mark.parametrize("operation", ["silu", "softmax", "rmsnorm"])
def test_a_library_in_c(operation: str, wrong: int, tmp_path: Path) -> None:
    library = compile_library(SOURCE.read_text(encoding="utf-8"), tmp_path, "eager", f"-DWRONG={wrong}", "-lm")
    with Worker(library) as worker:
        declared, undeclared = (
            {Bench(worker, declared=contract, explains=False).case(case).status for case in few(operation)}
            for contract in (EAGER, HEADER)
        )
    assert (Status.FAIL in declared) is bool(wrong)
    assert Status.FAIL in undeclared


# ---- nothing declared --------------------------------------------------------------------------------------------
def test_float32_between_the_steps_is_what_the_header_has() -> None:
    assert Declaration(intermediate="float32").arithmetic == Arithmetic() == HEADER.of("silu").arithmetic
    assert Arithmetic().last_rounding(BFLOAT16) is BFLOAT16
    assert Arithmetic(intermediate=BFLOAT16).last_rounding(FLOAT32) is BFLOAT16
