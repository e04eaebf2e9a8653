"""What a failure looks like: a reading in a part of an output, two runs that differ, what a crash has touched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import reference
from conformance import operations
from conformance.candidates.finding import Finding, Misdeed
from conformance.candidates.worker.outcome import Outcome
from conformance.catalogue.cases import CASES
from conformance.judging.bench import Bench
from conformance.judging.results import Result, Status
from conformance.report.summary import blocks

BETA = CASES["gemm_beta/accumulate/17x33x65x0.3x-2.5"]
EXACT = CASES["gemm_beta/exact/17x33x65x2x1"]


class Returns:
    """A worker of which every call ends alike."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome

    def run(self, operation: str, arguments: Any, override: Any = None) -> Outcome:
        return self.outcome

    def call(self, function: Callable[..., Any], *arguments: Any) -> Outcome:
        raise NotImplementedError


def judged(case: Any, output: Any, *findings: Finding) -> Result:
    outputs = operations.by_name(operations.OPERATIONS[case.operation], output)
    return Bench(Returns(Outcome("done", 0, outputs, list(findings)))).case(case)


def without_alpha(case: Any) -> tuple[Any, Any]:
    """What the operation gives, and what it gives with alpha left out."""
    arguments = case.arguments()
    return reference.gemm_beta(**arguments), reference.gemm_beta(**{**arguments, "alpha": 1.0})


def test_a_reading_that_holds_for_some_columns_is_named_with_them() -> None:
    right, wrong = without_alpha(BETA)
    result = judged(BETA, np.where(np.arange(33) < 32, wrong, right).astype(np.float32))
    assert result.headline == "matches in a part: alpha ignored; C: columns 0 to 31, one tile of 32"


def test_what_only_other_alignments_show_is_said_so() -> None:
    right, wrong = without_alpha(BETA)
    function = operations.OPERATIONS[BETA.operation]
    first, other = (operations.by_name(function, array.astype(np.float32)) for array in (right, wrong))
    result = Bench(Returns(Outcome("done", 0, first, elsewhere=other))).case(BETA)
    assert result.headline == "matches: alpha ignored; only in run 3, with arrays otherwise aligned"
    assert Bench(Returns(Outcome("done", 0, first, elsewhere=first))).case(BETA).status == "PASS"


def test_a_part_that_holds_something_else_is_not_named_so() -> None:
    right, wrong = without_alpha(BETA)
    mixed = np.where(np.arange(33) < 32, wrong * 1.01, right).astype(np.float32)
    assert "matches" not in judged(BETA, mixed).headline


def test_one_whole_number_that_agrees_is_an_accident() -> None:
    right, wrong = without_alpha(EXACT)
    mixed = right.astype(np.float32)
    mixed[0, 0] = wrong[0, 0]
    result = judged(EXACT, mixed)
    assert result.status is Status.FAIL
    assert "matches" not in result.headline


def test_two_runs_that_differ_come_before_what_their_numbers_look_like() -> None:
    right, wrong = without_alpha(BETA)
    differs = Finding(Misdeed.VARIES, "the second run differs from the first in C at [0, 0]")
    scrambled = judged(BETA, np.random.default_rng(0).permutation(right.astype(np.float32)) + 1, differs)
    assert scrambled.headline == differs.text
    assert not scrambled.repeats
    assert judged(BETA, wrong.astype(np.float32), differs).headline == "matches: alpha ignored"


def test_a_crash_looks_like_what_it_did_to_memory() -> None:
    stray = Finding(Misdeed.STRAY_WRITE, "wrote past the end of C (4 bytes)")
    crash = Outcome("crashed", findings=[stray], detail="SIGSEGV in run 1")
    result = Bench(Returns(crash)).case(BETA)
    assert (result.reason, result.headline) == ("SIGSEGV in run 1", "wrote past the end of C (4 bytes)")
    bare = Bench(Returns(Outcome("crashed", detail="SIGSEGV in run 1"))).case(BETA)
    assert bare.headline == "SIGSEGV in run 1"
    assert [shown for shown, _ in blocks([bare, result])] == [result]


@pytest.mark.parametrize("id", ["mul/signed/33", "scale/signed/1025x0.003"])
def test_subnormal_numbers_that_become_zero_are_called_so(id: str) -> None:
    case = CASES[id]
    right = getattr(reference, case.operation)(**case.arguments()).astype(np.float32)
    subnormal = np.abs(right) < np.finfo(np.float32).smallest_normal
    result = judged(case, np.where(subnormal, np.copysign(np.float32(0), right), right))
    assert result.headline == "output: subnormal numbers flushed to zero"
