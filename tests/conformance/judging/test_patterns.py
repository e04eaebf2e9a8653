"""What is said of wrong numbers that no reading and no simple change explains: sides, entries, parts of sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference
from conformance import operations
from conformance.catalogue.cases import CASES, Case
from conformance.judging.diagnoses import Diagnosis, Kind, Symptom, of_readings, of_symptoms
from conformance.judging.diagnosis import diagnose
from conformance.judging.diagnosis.numbers import recognise
from conformance.judging.joint import join, special_looks
from conformance.judging.outputs import judge_outputs
from conformance.limits.expectation import expect, rounded


def found(case: Case, **wrong: Any) -> Diagnosis:
    """What is said of a case where some outputs are replaced."""
    arguments = case.arguments()
    expected = expect(case.operation, arguments)
    got = {**operations.narrowed(case.operation, rounded(expected)), **wrong}
    told = diagnose(case.operation, arguments, expected, got, judge_outputs(case.operation, arguments, expected, got))
    assert told is not None
    return told


def first(operation: str, data: str) -> Case:
    return next(case for id, case in CASES.of(operation).items() if f"/{data}/" in id)


def right(case: Case) -> Any:
    return getattr(reference, case.operation)(**case.arguments())


@pytest.mark.parametrize(("sign", "words"), [(1, "too large"), (-1, "too small")])
def test_errors_of_one_side_are_said_to_be_so(sign: int, words: str) -> None:
    case = CASES["gemm/plain/17x33x65"]
    good = right(case).astype(np.float32)
    by = np.random.default_rng(3).uniform(0.5, 2, good.shape).astype(np.float32)
    [symptom] = found(case, C=good + sign * by).symptoms
    assert (symptom.kind, symptom.words) == (Kind.ONE_SIDE, f"every wrong number is {words}")


def test_errors_of_both_sides_have_no_pattern() -> None:
    case = CASES["gemm/plain/17x33x65"]
    good = right(case).astype(np.float32)
    by = np.random.default_rng(3).normal(size=good.shape).astype(np.float32)
    [symptom] = found(case, C=good + by).symptoms
    assert symptom.kind is Kind.NO_PATTERN


def test_counts_are_off_by_whole_numbers() -> None:
    case = first("aux_loss_forward", "plain")
    counts = right(case)[1].astype(np.float32)
    counts[0], counts[1] = counts[0] + 1, counts[1] + 3
    told = found(case, f_counts=counts)
    assert "f_counts: every wrong number is too large, by a whole number: 1 to 3" in told.text


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda x, at: np.minimum(at + 1 + np.arange(len(at)) % 3, x.shape[1] - 1), "smaller ones"),
        (lambda x, at: np.where(np.arange(len(at)) % 2, at, x.argmin(axis=1)), "smaller ones"),
    ],
)
def test_which_entries_came_for_those_that_are_due(change: Any, words: str) -> None:
    case = CASES["argmax/plain/64x257"]
    logits = case.arguments()["logits"]
    told = found(case, output=change(logits, right(case)).astype(np.int32))
    assert [one.kind for one in told.symptoms] == [Kind.CHOSEN]
    said = (told.symptoms[0].words, *told.symptoms[0].also)
    assert f"other entries of logits: {words}" in said


def test_places_are_entries_of_a_plane() -> None:
    case = next(case for id, case in CASES.of("max_pool2d").items() if "/special/" in id)
    given = case.arguments()["input"]
    places = right(case)[1]
    flat = given.reshape(*given.shape[:2], -1)
    wrong = np.where(np.isnan(np.take_along_axis(flat, places.reshape(*places.shape[:2], -1), -1)), 0, 1)
    wrong = np.where(wrong.reshape(places.shape) == 0, np.nanargmin(flat, axis=-1)[..., None, None], places)
    [symptom] = found(case, places=wrong.astype(np.int32)).symptoms
    assert symptom.words == "other entries of input: numbers where NaN of input is due"


def test_a_reading_of_one_output_is_named_though_that_is_wrong_everywhere() -> None:
    case = CASES["layernorm_backward/plain/64x64x0"]
    told = found(case, d_bias=case.arguments()["d_output"][:62].sum(axis=0))
    assert "the last of 32 parts of a sum missing, in sums over the rows alone" in told.readings
    assert told.in_part


def test_a_size_that_stands_for_a_scalar_is_recognised() -> None:
    number = recognise(64**-0.5 / 0.17, 1e-9, {"head_dim": 64.0, "scale": 0.17})
    assert number
    assert number.names == ("1 / (sqrt head_dim * scale)",)


def test_what_half_of_the_cases_refute_was_made_of_one() -> None:
    made = of_readings(["eps taken as 1"])
    searched = Diagnosis(made.text, made.readings, is_searched=True)
    other = Diagnosis("", symptoms=(Symptom(Kind.ZERO, Kind.ZERO, outputs=("C",)),), is_searched=True)
    joint = join([searched, other])
    assert joint
    assert joint.core == "C: zero"


def test_special_values_are_described_where_they_are_all_that_is_wrong() -> None:
    nan = of_symptoms([Symptom(Kind.NO_NUMBER, "NaN where numbers are due", outputs=("grad",))])
    assert special_looks([nan, nan]) == "grad: NaN where numbers are due"
    assert special_looks([nan, of_symptoms([Symptom(Kind.ZERO, Kind.ZERO, outputs=("grad",))])]) == ""
    assert special_looks([nan, of_readings(["always scaled"])]) == ""


def test_an_axis_of_windows_is_named_by_what_they_are_cut_from() -> None:
    assert operations.axis_names("max_pool2d", "output")[2:] == ("place along height", "place along width")


@pytest.mark.slow
def test_another_draw_rounds_to_the_other_neighbour() -> None:
    case = next(case for id, case in CASES.of("multi_adamw_fp16").items() if "drawn_kept_4x" in id)
    given = case.arguments()
    function = operations.OPERATIONS[case.operation]
    other = operations.by_name(function, reference.multi_adamw_fp16(**{**given, "seed": given["seed"] + 1}))
    wrong = found(case, **operations.narrowed(case.operation, operations.flat(other)))
    assert {one.kind for one in wrong.symptoms} == {Kind.NEIGHBOUR}


def test_whole_numbers_that_are_all_too_small_are_said_to_be_so() -> None:
    case = next(case for id, case in CASES.of("expert_sort").items() if "/plain/" in id)
    offsets = right(case)[0].copy()
    offsets[-2:] -= np.array([1, 3])
    assert "every wrong number is too small, by a whole number: 1 to 3" in found(case, offsets=offsets).text
