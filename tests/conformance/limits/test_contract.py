"""What a candidate declares of its precision: read from files, and followed by every limit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reference
from conformance import operations
from conformance.candidates.finding import Finding, Misdeed
from conformance.catalogue.cases import CASES
from conformance.catalogue.families import facts_of, products
from conformance.judging import outputs
from conformance.judging.bench import Bench
from conformance.judging.results import Status
from conformance.limits import HEADER, Contract, ContractError, Declaration, read_contract, shipped
from conformance.limits.expectation import expect
from conformance.limits.noise import FLOAT32, FORMATS, Arithmetic, Noisy, exact, using
from conformance.limits.noise import reductions as noise_reductions
from conformance.variants.honest import implementations
from conformance.variants.honest.tensor_cores import shortened, tensor_cores
from tests.conformance.runs import InProcess

TF32 = FORMATS["tf32"]
MULTIPLYING = frozenset(name for name in operations.OPERATIONS if facts_of(name).multiplies)
TENSOR_CORES = frozenset(name for name in MULTIPLYING if not name.startswith("expert"))
IN_FLOAT32 = TENSOR_CORES & products()


# ---- the file ----------------------------------------------------------------------------------------------------
@pytest.mark.slow
def test_the_shipped_contracts_say_what_their_names_promise() -> None:
    assert shipped() == [
        "amx-order",
        "bf16",
        "cuda-functions",
        "eager-bf16",
        "eager-fp16",
        "float32",
        "fp16",
        "mma-sm80-order",
        "tf32",
    ]
    assert read_contract("float32") == HEADER
    assert HEADER.is_header
    declared = {name: read_contract(name).of("gemm").inputs for name in shipped()}
    assert declared == {
        **{"bf16": "bfloat16", "float32": "float32", "fp16": "float16", "tf32": "tf32"},
        **dict.fromkeys(("eager-bf16", "eager-fp16", "cuda-functions", "amx-order", "mma-sm80-order"), "float32"),
    }
    assert dict(read_contract("cuda-functions").of("silu").functions)["exp"] == 2.5
    for name in ("tf32", "bf16", "fp16"):
        changed = {op for op in operations.OPERATIONS if read_contract(name).of(op) != Declaration()}
        assert changed == TENSOR_CORES
        assert read_contract(name).of("gemm").rounding == "toward zero"


def test_later_tables_win_and_defaults_hold_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'deterministic = false\n[operations."gemm*"]\ninputs = "tf32"\noutput = "bfloat16"\n'
        '[operations.gemm_nn]\ninputs = "float32"\n'
    )
    mine = read_contract(str(path))
    assert (mine.name, mine.is_header) == ("mine", False)
    assert mine.of("silu") == Declaration(deterministic=False)
    assert mine.of("gemm") == Declaration(inputs="tf32", output="bfloat16", deterministic=False)
    assert mine.of("gemm_nn") == Declaration(output="bfloat16", deterministic=False)
    assert str(mine.of("gemm")) == "inputs tf32, output bfloat16, deterministic no"
    assert str(HEADER.of("gemm")) == "float32"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('input = "tf32"', "input: expected one of inputs, accumulator, output"),
        ('inputs = "tf16"', "inputs: expected one of float32, tf32, float16, bfloat16, got 'tf16'"),
        ("inputs = 10", "inputs: expected one of float32, tf32, float16, bfloat16, got 10"),
        ('rounding = "up"', "rounding: expected one of nearest, toward zero, got 'up'"),
        ("deterministic = 1", "deterministic: expected one of true, false, got 1"),
        ('[operations."gem"]\ninputs = "tf32"', "operations.gem: expected the name of an operation"),
        ('[operations.gemm]\ninput = "tf32"', "operations.gemm: input: expected one of"),
        ("operations = 3", "operations: expected tables"),
        ("inputs = ", "mine.toml: "),
    ],
)
def test_what_cannot_be_read_is_named(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(ContractError) as error:
        read_contract(str(path))
    assert str(path) in str(error.value)
    assert said in str(error.value)


def test_a_name_that_is_neither_shipped_nor_a_file() -> None:
    shipped = "amx-order, bf16, cuda-functions, eager-bf16, eager-fp16, float32, fp16, mma-sm80-order, tf32"
    with pytest.raises(ContractError, match=f"tf23: expected a file, or one of {shipped}"):
        read_contract("tf23")


# ---- formats -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["tf32", "float16", "bfloat16"])
def test_a_format_holds_what_rounding_to_it_leaves(name: str) -> None:
    format = FORMATS[name]
    values = np.float32(np.random.default_rng(0).normal(size=999)) * 2.0 ** np.arange(-30.0, 3.0).repeat(33)[:999]
    values = values[np.abs(values) < 65504]
    held = shortened(values, format)
    assert format.holds(held).all()
    assert not format.holds(values).any()
    assert (np.abs(held - values) <= format.reach(values)).all()


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_formats_are_those_of_other_libraries(name: str) -> None:
    torch = pytest.importorskip("torch")
    info, format = torch.finfo(getattr(torch, name)), FORMATS[name]
    assert (format.unit * 2, format.smallest, format.largest) == (info.eps, info.tiny, info.max)


# ---- limits ------------------------------------------------------------------------------------------------------
def test_products_are_those_that_multiply_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    multiplied: list[int] = []
    as_factors = noise_reductions.as_factors
    monkeypatch.setattr(noise_reductions, "as_factors", lambda x, y: multiplied.append(1) or as_factors(x, y))
    found = set()
    for operation in operations.OPERATIONS:
        multiplied.clear()
        case = next(case for case in CASES.values() if case.operation == operation)
        expect(operation, case.arguments())
        found |= {operation} if multiplied else set()
    assert found == MULTIPLYING


def test_the_header_s_contract_changes_nothing() -> None:
    case = next(c for c in CASES.values() if c.id.startswith("gemm/plain/17x33"))
    plain: Any = expect("gemm", case.arguments())["C"]
    with using(HEADER.of("gemm").arithmetic):
        same: Any = expect("gemm", case.arguments())["C"]
    assert np.array_equal(plain.variance, same.variance)
    assert plain.lean is None
    assert HEADER.of("gemm").arithmetic == Arithmetic()


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (lambda g: g.normal(size=(64, 300)), lambda g: g.normal(size=(48, 300))),
        (lambda g: np.repeat(g.normal(size=(64, 1)), 300, 1), lambda g: g.random((48, 300))),  # errs by m, not root m
        (lambda g: 30 + g.normal(size=(64, 300)), lambda g: g.normal(size=(48, 300))),
    ],
)
@pytest.mark.parametrize("kind", list(tensor_cores(TF32)))
def test_rounded_factors_err_by_their_sigma(left: Callable[[Any], Any], right: Callable[[Any], Any], kind: str) -> None:
    generator = np.random.default_rng(0)
    A, B = (np.float32(make(generator)) for make in (left, right))
    with using(Arithmetic(inputs=TF32, truncates=True)):
        due: Any = reference.gemm(exact(A), exact(B))
    with np.errstate(all="ignore"):
        made = np.asarray(reference.gemm(A.view(tensor_cores(TF32)[kind]), B.view(tensor_cores(TF32)[kind])))
    z = np.maximum(np.abs(made - due.v) - due.lean, 0) / due.sigma
    assert z.max() < 8
    assert np.sqrt(np.mean(z**2)) < 1
    assert np.abs(made - due.v).max() > 100 * np.abs(np.float32(A @ B.T) - due.v).max()


def test_truncated_sums_lean_as_far_as_they_may() -> None:
    """All of one sign: every partial sum loses something, and never gains."""
    generator = np.random.default_rng(0)
    A, B = (shortened(generator.random((rows, 4096)), TF32).astype(np.float32) for rows in (6, 5))
    kind = tensor_cores(TF32)["tf32 truncating"]
    made = np.asarray(reference.gemm(A.view(kind), B.view(kind))).astype(np.float64)
    with using(Arithmetic(truncates=True)):
        due: Any = reference.gemm(exact(A), exact(B))
    plain: Any = reference.gemm(exact(A), exact(B))
    error = made - due.v
    assert (error < 0).all()
    assert (np.abs(error) > 8 * plain.sigma).all()  # without the lean no limit would let it through
    assert (np.abs(error) < due.lean + 8 * due.sigma).all()
    assert (np.abs(error) > due.lean / 2).all()  # and the lean is no more than it has to be


def _passed(made: np.ndarray[Any, Any], expected: Noisy) -> bool:
    return outputs.passes("gemm", {}, {"C": expected}, {"C": made})


def test_an_output_format_is_one_more_rounding() -> None:
    case = next(c for c in CASES.values() if c.id.startswith("gemm/plain/17x33"))
    arguments = case.arguments()
    stored = shortened(reference.gemm(arguments["A"], arguments["B"]), FORMATS["bfloat16"]).astype(np.float32)
    assert not _passed(stored, expect("gemm", arguments)["C"])
    with using(Declaration(output="bfloat16").arithmetic):
        assert _passed(stored, expect("gemm", arguments)["C"])
    with using(Declaration(output="float16").arithmetic):
        assert not _passed(stored, expect("gemm", arguments)["C"])


def test_an_accumulator_of_few_digits_widens_sums_alone() -> None:
    rows = np.float32(np.random.default_rng(0).normal(size=(40, 200)))
    with using(Declaration(accumulator="float16").arithmetic):
        total: Any = np.sum(exact(rows), axis=1)
        product: Any = exact(rows) * exact(rows)
    fine: Any = np.sum(exact(rows), axis=1)
    coarser = FORMATS["float16"].unit / FLOAT32.unit  # and what small terms lose in a large sum
    assert (total.sigma >= fine.sigma * coarser * (1 - 1e-12)).all()
    assert np.array_equal(product.variance, (exact(rows) * exact(rows)).variance)


@pytest.mark.parametrize("operation", ["mul", "scale", "gemm"])
def test_subnormal_numbers_may_be_zero_where_they_are_flushed(operation: str) -> None:
    tiny = np.full((1, 1) if operation == "gemm" else 1, 2.0**-140, np.float32)
    one = np.ones_like(tiny)
    arguments = {"mul": {"a": tiny, "b": one}, "scale": {"input": tiny, "scale": 1.0}, "gemm": {"A": tiny, "B": one}}
    output = "C" if operation == "gemm" else "output"
    for flushes in (False, True):
        with using(Declaration(flush_to_zero=flushes).arithmetic):
            due = expect(operation, arguments[operation])
        assert outputs.passes(operation, arguments[operation], due, {output: np.zeros_like(tiny)}) is flushes
        assert outputs.passes(operation, arguments[operation], due, {output: tiny})


# ---- power and false alarms --------------------------------------------------------------------------------------
def verdicts(name: str, declared: Contract, formats: list[str], seeds: range) -> dict[str, list[bool]]:
    """Whether each case of the products passes for an implementation, by operation."""
    known = implementations(inputs={FORMATS[format]: IN_FLOAT32 for format in formats})[name]
    found: dict[str, list[bool]] = {}
    for case in (c for c in CASES.values() if c.operation in IN_FLOAT32 and c.data in ("plain", "swamp")):
        for seed in seeds:
            arguments = case.arguments(seed)
            with using(declared.of(case.operation).arithmetic):
                expected = expect(case.operation, arguments)
                if all(map(outputs.is_known, expected.values())):
                    got = {n: np.asarray(v) for n, v in known.call(case.operation, arguments).items()}
                    right = outputs.passes(case.operation, arguments, expected, got)
                    found.setdefault(case.operation, []).append(right)
    return found


@pytest.mark.slow
def test_tensor_cores_pass_where_they_are_declared_and_fail_elsewhere() -> None:
    name = "tf32 truncating by 8, ties away"
    assert all(all(few) for few in verdicts(name, read_contract("tf32"), ["tf32"], range(3, 4)).values())
    assert not any(all(few) for few in verdicts(name, HEADER, ["tf32"], range(3, 4)).values())


@pytest.mark.slow
def test_a_finer_library_passes_and_a_coarser_one_is_found_in_every_product() -> None:
    assert all(all(few) for few in verdicts("sequential", read_contract("tf32"), [], range(3, 4)).values())
    coarse = verdicts("bfloat16 rounding by 16", read_contract("tf32"), ["bfloat16"], range(3, 4))
    assert {operation for operation, few in coarse.items() if all(few)} == set()
    assert coarse.keys() == IN_FLOAT32


# ---- on the bench ------------------------------------------------------------------------------------------------
def test_two_runs_may_differ_only_where_that_is_declared() -> None:
    class Unsteady(InProcess):
        def run(self, operation: str, arguments: dict[str, Any], override: Any = None) -> Any:
            outcome = super().run(operation, arguments, override)
            outcome.findings.append(Finding(Misdeed.VARIES, "the second run differs from the first in output at [3]"))
            return outcome

    case = CASES["silu/plain/33"]
    assert Bench(Unsteady()).case(case).status is Status.FAIL
    assert (
        Bench(Unsteady(), declared=Contract("mine", Declaration(deterministic=False))).case(case).status is Status.PASS
    )


def test_a_case_that_a_coarse_contract_blinds_is_not_passed() -> None:
    blinded = Bench(InProcess(), declared=read_contract("bf16")).case(CASES["flash_attention/swamp/2x4x2x9x4x0.5"])
    assert blinded.status is Status.TOO_FINE
    assert blinded.is_fine


@pytest.mark.parametrize("kind", list(tensor_cores(TF32)))
def test_numbers_with_a_factor_in_common_err_together(kind: str) -> None:
    """Keys and values that are nearly alike, as repeated tokens make them: a row's errors do not even out."""
    generator = np.random.default_rng(0)
    Q, K, V, d_output = (np.float32(3 + generator.normal(size=(1, 64, 2, 32)) / 8) for _ in range(4))
    output, lse = reference.attention_forward(*(x.astype(np.float64) for x in (Q, K, V)), 64, 0.17)
    given = operations.typed(
        operations.OPERATIONS["attention_backward"],
        {"Q": Q, "K": K, "V": V, "output": output, "lse": lse, "d_output": d_output, "scale": 0.17},
    )
    known = implementations(inputs={TF32: TENSOR_CORES})[kind]
    got = {n: np.asarray(v) for n, v in known.call("attention_backward", given).items()}
    with using(read_contract("tf32").of("attention_backward").arithmetic):
        assert outputs.passes("attention_backward", given, expect("attention_backward", given), got)
