"""What the slips of authors look like: entries left out of sums, pairs exchanged, rows of another output, limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import reference
from conformance.candidates.finding import Finding, Misdeed
from conformance.catalogue.cases import CASES
from conformance.judging.causes import causes
from conformance.judging.diagnoses import Diagnosis, Kind, Symptom, of_readings, of_symptoms
from conformance.judging.diagnosis import diagnose
from conformance.judging.joint import join
from conformance.judging.outputs import judge_outputs
from conformance.judging.results import Result, Status
from conformance.limits.expectation import expect
from conformance.operations import OPERATIONS, by_name


def looks(id: str, wrong: Callable[..., Any]) -> str:
    """What is said of a case that is computed so."""
    operation, arguments = CASES[id].operation, CASES[id].arguments()
    expected, given = expect(operation, arguments), by_name(OPERATIONS[operation], wrong(**arguments))
    got = {name: array.astype(np.float32) if array.dtype.kind == "f" else array for name, array in given.items()}
    return str(diagnose(operation, arguments, expected, got, judge_outputs(operation, arguments, expected, got)))


def test_a_row_that_a_mean_leaves_out_is_named() -> None:
    def wrong(logits: Any, targets: Any) -> Any:
        log_probs = reference.cross_entropy_forward(logits, targets)[1]
        return reference.cross_entropy_forward(logits[:-1], targets[:-1])[0], log_probs

    said = looks("cross_entropy_forward/plain/33x257", wrong)
    assert said.startswith("matches: the last row of logits left out, or rows of logits past the last whole 2 left out")


def test_a_row_that_is_left_out_but_counted_is_named() -> None:
    def wrong(logits: Any, targets: Any) -> Any:
        log_probs = reference.cross_entropy_forward(logits, targets)[1]
        loss = reference.cross_entropy_forward(logits[:32], targets[:32])[0] * np.float32(32 / 33)
        return loss, log_probs

    said = looks("cross_entropy_forward/plain/33x257", wrong)
    assert said.startswith("matches: the last row of logits left out, but counted")


def test_two_neighbours_in_a_word_that_change_places_are_named() -> None:
    at = np.minimum(np.arange(65) ^ 1, 64)  # the last of an odd number stays
    said = looks("gemm/plain/17x33x65", lambda A, B: reference.gemm(A, B[:, at]))
    assert said.startswith("matches: ")  # both are the same products, summed in an order of which BLAS knows
    assert all(f"{factor} with the two columns of each pair exchanged" in said for factor in "AB")


def test_an_array_that_is_read_anew_from_where_a_result_goes_wrong_is_named() -> None:
    at = np.arange(257) % 136
    said = looks("dense/tails/1x33x257x5x1.5x1", lambda bias, **rest: reference.dense(bias=bias[at], **rest))
    assert said == "matches: bias read modulo 136 along its elements"


def test_one_slip_with_another_number_in_each_case_is_one() -> None:
    made = [replace(of_readings([f"bias read modulo {n} along its elements"]), is_searched=True) for n in (136, 512)]
    found = join(made)
    assert found is not None
    assert found.sentence == "matches: bias read modulo 136, 512 along its elements"
    assert all(map(found.is_shown_by, made))


def test_alpha_of_the_first_terms_alone_is_named() -> None:
    def wrong(A: Any, B: Any, C: Any, alpha: float, beta: float) -> Any:
        first = reference.gemm_beta(A[:, :256], B[:, :256], C, alpha, beta)
        return first + reference.gemm(A[:, 256:], B[:, 256:])

    said = looks("gemm_beta/accumulate/scaled_by_parts_of_k_5x7x300x0.3x-2.5", wrong)
    assert "alpha left out of the terms from column 256 of A on" in said


def test_rows_of_another_output_are_said_to_be() -> None:
    def wrong(**given: Any) -> Any:
        gate, up, output = reference.gemm_swiglu(**given)
        return np.concatenate([gate[:-1], up[:1]]), up, output

    said = looks("gemm_swiglu/plain/17x33x65", wrong)
    assert said == "gate: rows that belong into up, the last row (16)"


def test_one_number_for_all_that_are_larger_looks_cut_off() -> None:
    def floored(input: Any, weight: Any, bias: Any, eps: float) -> Any:
        output, mean, rstd = reference.layernorm(input, weight, bias, eps)
        return output, mean, np.minimum(rstd, np.float32(30.0))

    operation, found = "layernorm", []
    for id in ("layernorm/tiny/5x33x1e-05", "layernorm/degenerate/constant_rows_5x33x1e-05"):
        arguments = CASES[id].arguments()
        expected, given = expect(operation, arguments), by_name(OPERATIONS[operation], floored(**arguments))
        got = {name: array.astype(np.float32) for name, array in given.items()}
        found.append(diagnose(operation, arguments, expected, got, judge_outputs(operation, arguments, expected, got)))
    joint = join([one for one in found if one])
    assert joint is not None
    assert joint.sentence == "rstd: cut off above 30"


def test_terms_of_a_sum_that_are_taken_for_zero_as_subnormal_are_said_to_be() -> None:
    least = np.float32(2.0**-126)

    def wrong(A: Any, B: Any) -> Any:
        terms = A[:, None, :] * B[None, :, :]
        return np.sum(np.where(np.abs(terms) < least, np.float32(0), terms), axis=-1)

    assert "some in a sum are taken for zero" in looks("gemm_bf16/subnormal/small_sums_19x18x33", wrong)


def test_a_side_of_few_numbers_counts_where_all_cases_bear_it_out() -> None:
    side = "every wrong number is too small"
    few = of_symptoms([Symptom(Kind.NO_PATTERN, Kind.NO_PATTERN, outputs=("rstd",), also=(side,))])
    many = of_symptoms([Symptom(Kind.ONE_SIDE, side, outputs=("rstd",))])
    found = join([few, few, many])
    assert found is not None
    assert found.sentence == f"rstd: {side}"


def test_what_most_of_the_others_show_is_said_besides_a_reading() -> None:
    zero = of_symptoms([Symptom(Kind.ZERO, "zero", outputs=("d_K",))])
    vague = of_symptoms([Symptom(Kind.NO_PATTERN, Kind.NO_PATTERN, outputs=("d_K",))])
    found = join([*[of_readings(["tile missing"])] * 4, zero, zero, zero, vague])
    assert found is not None
    assert found.sentence == "matches: tile missing in 4 of 8 failing cases, in 3 of the others d_K: zero"


VARIES = Result(
    "rmsnorm/sequence/thousand",
    "rmsnorm",
    Status.FAIL,
    "gives other bits from call to call; wrong alone too",
    findings=(Finding(Misdeed.VARIES, "gives other bits from call to call"),),
)


def _failed(diagnosis: Diagnosis) -> Result:
    return Result("rmsnorm/plain/3x33", "rmsnorm", Status.FAIL, "wrong", diagnosis=diagnosis)


def test_a_call_that_is_wrong_alone_and_varies_follows_from_what_its_numbers_show() -> None:
    zero = of_symptoms([Symptom(Kind.ZERO, "zero", outputs=("output",))])
    [cause] = causes([_failed(zero), VARIES])
    assert (cause.sentence, cause.count) == ("output: zero", 2)


def test_that_calls_vary_is_said_where_numbers_have_no_pattern() -> None:
    vague = of_symptoms([Symptom(Kind.NO_PATTERN, Kind.NO_PATTERN, outputs=("output",))])
    [cause] = causes([_failed(vague), VARIES])
    assert (cause.sentence, cause.count) == (VARIES.reason, 2)


def test_how_often_an_index_stands_is_a_value_of_its_row() -> None:
    found = []
    for data, sizes in (
        ("accumulate", "257x64x8"),
        ("tails", "300x200x5"),
        ("exact", "257x64x8"),
        ("cancel", "257x64x8"),
    ):
        id = f"scatter_add/{data}/{sizes}"
        arguments = CASES[id].arguments()
        counts: dict[int, int] = {}
        kept = arguments["indices"].copy()
        for place, index in enumerate(kept):
            counts[index] = counts.get(index, 0) + 1
            kept[place] = index if counts[index] <= 4 else -1
        expected = expect("scatter_add", arguments)
        got = {"grad_weight": reference.scatter_add(**(arguments | {"indices": kept}))}
        verdicts = judge_outputs("scatter_add", arguments, expected, got)
        diagnosis = diagnose("scatter_add", arguments, expected, got, verdicts)
        found.append(Result(id, "scatter_add", Status.FAIL, "wrong", tuple(verdicts), diagnosis=diagnosis))
    [cause] = causes(found)
    assert cause.sentence.endswith("only where the count of its indices is above 4")
