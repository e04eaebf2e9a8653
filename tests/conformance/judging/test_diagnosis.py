"""What is said of a wrong output that two different poisons, or the sign of a zero, tell apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference
from bindings import Facts
from conformance import operations
from conformance.candidates.finding import Finding, Misdeed
from conformance.candidates.poison import poison
from conformance.candidates.worker.outcome import Outcome
from conformance.catalogue.cases import CASES
from conformance.judging.bench import Bench
from conformance.judging.diagnoses import Kind
from conformance.judging.diagnosis import diagnose
from conformance.judging.outputs import judge_outputs
from conformance.judging.results import Result
from conformance.limits.expectation import expect, rounded

VARIES = Finding(Misdeed.VARIES, "the second run differs from the first in C at [0, 0]")


class Twice:
    """A worker whose call gives one output on the first poison, and another on the second."""

    def __init__(self, name: str, first: Any, second: Any, *findings: Finding) -> None:
        self.outputs = [{name: operations.widened(array)} for array in (first, second)]
        self.findings = list(findings)

    def run(self, operation: str, arguments: Any, override: Any = None) -> Outcome:
        return Outcome("done", 0, self.outputs[0], self.findings, again=self.outputs[1])

    def call(self, function: str, *arguments: Any) -> Outcome:
        raise NotImplementedError

    def facts(self) -> Facts:
        return Facts()


def judged(operation: str, first: Any, second: Any, *findings: Finding) -> Result:
    return Bench(Twice("C", first, second, *findings)).case(CASES[f"{operation}/plain/17x33x65"])


def kinds(result: Result) -> list[Kind]:
    assert result.diagnosis is not None
    return [symptom.kind for symptom in result.diagnosis.symptoms]


def product(operation: str) -> tuple[Any, np.dtype[Any]]:
    """The right product, and the format it is stored in."""
    arguments = CASES[f"{operation}/plain/17x33x65"].arguments()
    dtype = operations.declared(operations.OPERATIONS[operation], "C").type.dtype
    return getattr(reference, operation)(**arguments).astype(np.float32), dtype


@pytest.mark.parametrize("operation", ["gemm", "gemm_bf16", "gemm_fp16"])
def test_a_sum_with_what_was_there_is_called_so(operation: str) -> None:
    right, dtype = product(operation)
    first, second = ((right + poison(dtype, run)).astype(dtype) for run in (1, 2))
    result = judged(operation, first, second, VARIES)
    assert result.headline == "C: added to what was there"
    assert kinds(result) == [Kind.ADDED]


def test_what_was_there_times_0_is_read_not_left_unwritten() -> None:
    right, dtype = product("gemm")
    first, second = (right + np.float32(0) * poison(dtype, run) for run in (1, 2))
    assert kinds(judged("gemm", first, second, VARIES)) == [Kind.READ]


def test_a_value_that_swallows_what_is_added_may_be_either() -> None:
    large = CASES["gemm/range/17x33x65"]
    right = reference.gemm(**large.arguments()).astype(np.float32)
    first, second = (right + poison(right.dtype, run) for run in (1, 2))
    diagnosis = Bench(Twice("C", first, second, VARIES)).case(large).diagnosis
    assert diagnosis is not None
    assert [(one.kind, one.also) for one in diagnosis.symptoms] == [(Kind.READ, (Kind.ADDED,))]


def test_a_sum_with_what_was_there_is_called_so_among_nan() -> None:
    case = CASES["gemm/special/33x5x3"]
    right = reference.gemm(**case.arguments()).astype(np.float32)
    assert np.isnan(right).any()
    first, second = (right + poison(right.dtype, run) for run in (1, 2))
    assert Bench(Twice("C", first, second, VARIES)).case(case).headline == "C: added to what was there"


def test_a_range_of_an_input_is_a_place() -> None:
    arguments = CASES["silu/range/1025"].arguments()
    x, right = arguments["input"], reference.silu(**arguments).astype(np.float32)
    expected, got = expect("silu", arguments), {"output": np.where((x > -50) & (x < -12), np.float32(0), right)}
    found = diagnose("silu", arguments, expected, got, judge_outputs("silu", arguments, expected, got))
    assert str(found) == "output: zero, where input is -49.35 to -13.06"


def test_only_what_holds_either_poison_was_never_written() -> None:
    right, dtype = product("gemm")
    first, second = (np.broadcast_to(poison(dtype, run), right.shape) for run in (1, 2))
    assert kinds(judged("gemm", first, second)) == [Kind.UNWRITTEN]
    assert judged("gemm", first, first).headline == "C: NaN"  # computed, though of the first poison's bits


def test_of_wrong_numbers_some_of_which_were_never_written_that_is_said() -> None:
    arguments = CASES["gemm/plain/17x33x65"].arguments()
    expected = expect("gemm", arguments)
    right, dtype = product("gemm")
    written = np.arange(right.size).reshape(right.shape) % 3 == 0
    first, second = ({"C": np.where(written, right[::-1], poison(dtype, run))} for run in (1, 2))
    verdicts = judge_outputs("gemm", arguments, expected, first)
    partly = diagnose("gemm", arguments, expected, first, verdicts, again=second)
    assert str(partly).startswith("C: never written in ")
    computed = diagnose("gemm", arguments, expected, first, verdicts, again=first)
    assert str(computed).startswith("C: NaN in ")  # though of the first poison's bits


def test_a_lost_sign_of_zero_is_no_factor() -> None:
    case = CASES["mul/signed/33"]
    right = reference.mul(**case.arguments()).astype(np.float32)
    assert np.signbit(right[right == 0]).any()
    positive = np.where(right == 0, np.float32(0), right)
    assert Bench(Twice("output", positive, positive)).case(case).headline == "output: the sign of zero is lost"


@pytest.mark.parametrize(("by", "is_exchanged"), [(1.0001, False), (1.0, True)])
def test_what_lies_within_a_coarser_copy_s_limits_does_not_belong_there(by: float, is_exchanged: bool) -> None:
    operation = "multi_adamw_bf16"
    case = next(case for id, case in CASES.of(operation).items() if "/plain/" in id)
    arguments = case.arguments()
    expected = expect(operation, arguments)
    got = operations.narrowed(operation, rounded(expected))
    wrong = "params[0]" if by != 1 else "ms[0]"
    got[wrong] = (got["params[0]"] * by).astype(np.float32)
    verdicts = judge_outputs(operation, arguments, expected, got)
    assert [verdict.output for verdict in verdicts if not verdict.passed] == [wrong]
    told = diagnose(operation, arguments, expected, got, verdicts)
    assert told is not None
    assert ("what belongs into" in told.text) is is_exchanged


def test_a_constant_that_ends_early_is_said_by_the_digits_that_are_right() -> None:
    case = CASES["gelu_tanh/plain/1024"]
    arguments = case.arguments()
    expected = expect(case.operation, arguments)
    x = arguments["input"].astype(np.float64)
    came = {"output": (0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.0447 * x**3)))).astype(np.float32)}
    verdicts = judge_outputs(case.operation, arguments, expected, came)
    found = diagnose(case.operation, arguments, expected, came, verdicts)
    assert found is not None
    [symptom] = found.symptoms
    assert {symptom.kind} <= {Kind.DIGITS, Kind.PRECISION}
    assert "right to 3 digits" in (symptom.words, *symptom.also)
    assert "right to 6 digits" not in (symptom.words, *symptom.also)


def test_a_number_of_each_row_is_one_witness_however_long_the_row_is() -> None:
    arguments = CASES["add_column/plain/5x257"].arguments()
    right = reference.add_column(**arguments).astype(np.float32)
    expected, got = expect("add_column", arguments), {"output": right.copy()}
    got["output"][arguments["column"] < 0] += 1
    found = diagnose("add_column", arguments, expected, got, judge_outputs("add_column", arguments, expected, got))
    assert found is not None
    [negative] = [one for one in found.values if (one.input, one.kind.name) == ("column", "NEGATIVE")]
    assert (negative.different, negative.wrong) == (int((arguments["column"] < 0).sum()), negative.different * 257)


def test_sums_that_lost_what_was_subnormal_on_their_way_are_called_so() -> None:
    case = CASES["gemm_nn_bf16/subnormal/small_columns_70x43x33x1x0"]
    arguments, least = case.arguments(), np.finfo(np.float32).smallest_normal
    sums = np.zeros((70, 43))
    for column, row in zip(arguments["A"].T.astype(np.float64), arguments["B"].astype(np.float64), strict=True):
        sums = sums + np.outer(column, row)
        sums = np.where(np.abs(sums) < least, 0.0, sums)
    expected = expect(case.operation, arguments)
    came = operations.narrowed(case.operation, {"C": sums.astype(np.float32)})
    verdicts = judge_outputs(case.operation, arguments, expected, came)
    found = diagnose(case.operation, arguments, expected, came, verdicts)
    assert found is not None
    assert [(one.kind, "some in a sum are taken for zero" in one.words) for one in found.symptoms] == [
        (Kind.FLUSHED, True)
    ]
