"""When an operation fails, from the sizes and scalars of its failing and its passing cases."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from conformance.catalogue.cases import CASES, DESIGNED
from conformance.catalogue.cases.spec import Case
from conformance.judging.causes import causes
from conformance.judging.circumstances import circumstances
from conformance.judging.diagnoses import Diagnosis, Kind, Symptom, of_readings, of_symptoms
from conformance.judging.results import Result, Status

WRONG = of_symptoms([Symptom(Kind.NO_PATTERN, Kind.NO_PATTERN, outputs=("output",))])
Fails = Callable[[Mapping[str, Any]], bool]


def judged(operation: str, fails: Callable[[Case], bool], diagnosis: Diagnosis = WRONG) -> list[Result]:
    """Every case of an operation, judged as a library would be that is wrong in some of them."""
    cases = [*CASES.of(operation).values(), *DESIGNED.of(operation).values()]
    return [
        Result(case.id, operation, Status.FAIL, "wrong", diagnosis=diagnosis)
        if fails(case)
        else Result(case.id, operation, Status.PASS)
        for case in cases
    ]


def said(results: list[Result]) -> str:
    return circumstances([result for result in results if result.status is Status.FAIL], results)


@pytest.mark.parametrize(
    ("operation", "fails", "words"),
    [
        ("softmax", lambda sizes: sizes["cols"] > 12288, "only where cols >= 12289"),
        ("softmax", lambda sizes: sizes["cols"] < 5, "only where cols <= 4"),
        ("silu", lambda sizes: sizes["n"] % 4 != 0, "only where n % 4 != 0"),
        ("silu", lambda sizes: sizes["n"] > 64 and sizes["n"] % 64 != 0, "only where n > 64 and n % 64 != 0"),
        ("silu", lambda sizes: sizes["n"] % 1024 == 1, "only where n % 1024 = 1"),
        ("scale", lambda sizes: sizes["scale"] == 1, "only where scale = 1"),
        ("scale", lambda sizes: sizes["scale"] < 0, "only where scale < 0"),
        ("gemm_beta", lambda sizes: sizes["beta"] != 0, "only where beta is not 0"),
        ("gemm_tt", lambda sizes: sizes["N"] == sizes["K"], "only where K = N"),
        (
            "multi_scale",
            lambda sizes: any(size % 8192 == 0 for size in sizes["sizes"]),
            "only where one of sizes is a multiple of 8192",
        ),
        ("softmax_topk", lambda sizes: sizes["k"] < sizes["cols"], "only where cols > k"),
    ],
)
def test_the_condition_is_told_that_holds_in_failing_cases_alone(operation: str, fails: Fails, words: str) -> None:
    assert said(judged(operation, lambda case: fails(case.sizes))) == words


def test_what_has_to_be_is_told_though_it_is_not_all() -> None:
    """A step that wraps shows at one step alone, and there not where nothing depends on it."""
    met = sorted(case.id for case in DESIGNED.of("adamw_step").values() if case.sizes["step"] == 65537)
    wrong = met[::3]
    assert 3 * len(wrong) > len(met) > 2 * len(wrong)  # most of the cases that meet it pass
    words = said(judged("adamw_step", lambda case: case.id in wrong))
    assert re.search(r"^only where (.* and )?step = 65537\b.* such cases passed\)$", words), words


def test_two_conditions_at_once_are_told_where_neither_tells_alone() -> None:
    def fails(case: Case) -> bool:
        return case.sizes["batch"] > 1 and case.sizes["kv_capacity"] > case.sizes["kv_len"]

    assert said(judged("attention_forward", fails)) == "only where batch is not 1 and kv_capacity > kv_len"


def test_how_much_a_plane_holds_is_told_where_it_is_no_size() -> None:
    def fails(case: Case) -> bool:
        return math.prod(case.arguments()["d_output"].shape[2:]) > 256

    words = said(judged("conv2d_backward_weight", fails))
    assert re.fullmatch(r"only where the number of elements of d_output\[0\]\[0\] >= \d+", words), words


def test_what_arrays_hold_is_a_circumstance_too() -> None:
    results = judged("silu", lambda case: case.spec.inputs.get("input", case.data) == "subnormal")
    assert said(results) == "only where input holds subnormal data"


def test_nothing_is_said_where_all_cases_fail_or_no_simple_condition_tells_them() -> None:
    assert said(judged("silu", lambda case: True)) == ""
    assert said(judged("silu", lambda case: hash(case.sizes["n"]) % 7 in (1, 3, 4))) == ""
    one = next(iter(CASES.of("silu")))
    assert said(judged("silu", lambda case: case.id == one)) == ""


def test_of_too_few_failing_cases_it_is_said_if_they_are_all_that_there_are_of_a_size() -> None:
    longest = judged("mse_backward", lambda case: case.sizes["n"] > 65536)
    assert said(longest) == "the only case where n >= 65537"
    widest = judged("embedding", lambda case: case.sizes["vocab_size"] > 65536)
    assert said(widest) == "the only cases where vocab_size >= 65537"


def test_a_few_cases_that_pass_all_the_same_are_counted() -> None:
    right = next(case.id for case in DESIGNED.of("softmax").values() if case.sizes["cols"] > 12288)
    results = judged("softmax", lambda case: case.sizes["cols"] > 12288 and case.id != right)
    assert said(results) == "only where cols >= 12289 (1 such case passed)"


def test_a_cause_says_when_but_where_a_reading_says_all() -> None:
    fails: Callable[[Case], bool] = lambda case: case.sizes["cols"] > 12288  # noqa: E731
    [cause] = causes(judged("softmax", fails))
    assert cause.sentence == f"output: {Kind.NO_PATTERN}; only where cols >= 12289"
    beta = judged("gemm_beta", lambda case: case.sizes["beta"] != 0)
    assert said(beta) == "only where beta is not 0"
    [cause] = causes(judged("gemm_beta", lambda case: case.sizes["beta"] != 0, of_readings(["beta ignored"])))
    assert cause.sentence == "matches: beta ignored"  # whose failing cases they are: no case refutes it that passed


def test_a_crash_says_when_though_several_calls_in_a_row_seem_to_show_more() -> None:
    fails: Callable[[Case], bool] = lambda case: any(size % 8192 == 0 for size in case.sizes["sizes"])  # noqa: E731
    crashed = judged("multi_scale", fails, Diagnosis("crashed"))
    kept = Diagnosis("keeps something from one call to the next")
    in_a_row = Result("multi_scale/sequence/alternating", "multi_scale", Status.CRASHED, kept.text, diagnosis=kept)
    [cause] = causes([*crashed, in_a_row])
    assert cause.sentence == "crashed; only where one of sizes is a multiple of 8192"
    [cause] = causes([result for result in [*crashed, in_a_row] if result.is_fine or result is in_a_row])
    assert cause.sentence == kept.text


def test_a_reading_that_cases_refute_which_passed_is_one_path_s() -> None:
    [cause] = causes(judged("gemm_beta", lambda case: case.sizes["M"] == 1, of_readings(["beta ignored"])))
    assert cause.sentence == "matches: beta ignored; only where M = 1"
