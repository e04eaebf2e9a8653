"""Diagnoses of several failing cases joined: what one case suggests another may refute."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import reference
from conformance.catalogue.cases import CASES
from conformance.judging.diagnoses import (
    AS_SHORT,
    Diagnosis,
    Kind,
    Symptom,
    of_readings,
    of_readings_in_part,
    of_symptoms,
)
from conformance.judging.diagnosis import diagnose
from conformance.judging.joint import join, likeliest, refuted
from conformance.judging.outputs import judge_outputs
from conformance.limits.expectation import expect

ZERO = of_symptoms([Symptom(Kind.ZERO, Kind.ZERO, outputs=("C",))])


def times(number: float, *names: str) -> Diagnosis:
    words = f"the right values times {number}"
    return of_symptoms([Symptom(Kind.FACTOR, words, names, "the right values times {}", outputs=("output",))])


def sentence(*told: Diagnosis) -> str:
    joint = join(told)
    assert joint is not None
    return joint.sentence


def test_a_reading_is_the_cause_where_it_matches_every_case() -> None:
    assert sentence(of_readings(["a", "b"]), of_readings(["b"])) == "matches: b"
    assert sentence(of_readings(["a", "b"]), of_readings(["b", "a"])) == "matches: a, or b"
    assert sentence(of_readings_in_part(["a"], "C: row 1"), of_readings_in_part(["a"])) == "matches in a part: a"


def test_a_case_that_a_reading_has_no_meaning_for_does_not_refute_it() -> None:
    square = of_readings(["transposed"])
    assert sentence(square, of_symptoms(ZERO.symptoms)) == "matches: transposed in 1 of 2 failing cases"
    oblong = Diagnosis(ZERO.text, untried=("transposed",), symptoms=ZERO.symptoms)
    assert sentence(square, oblong) == "matches: transposed"


def test_a_reading_that_one_degenerate_case_suggests_is_not_the_cause() -> None:
    root = "sqrt ((n - 1) / n)"
    told = [of_readings(["sum in place of the mean"]), times(0.98, root), times(0.99, "1 / k", root)]
    assert sentence(*told) == f"output: the right values times {root} in 2 of 3 failing cases"


def test_a_reading_that_holds_in_a_third_of_the_cases_is_said_before_that_there_is_no_pattern() -> None:
    nothing = of_symptoms([Symptom(Kind.NO_PATTERN, Kind.NO_PATTERN, outputs=("C",))])
    assert sentence(of_readings(["a"]), nothing, nothing) == "matches: a in 1 of 3 failing cases"
    assert sentence(of_readings(["a"]), *[nothing] * 3) == f"C: {Kind.NO_PATTERN} in 3 of 4 failing cases"
    assert sentence(of_readings(["a"]), ZERO, ZERO) == "C: zero in 2 of 3 failing cases"


def test_a_size_that_fits_a_factor_by_accident_is_refuted_by_the_case_it_does_not_fit() -> None:
    third = times(1 / 3, "1 / kernel_h", "1 / channels")
    told = [third, third, times(1 / 2, "1 / width"), times(3 / 5)]
    assert sentence(*told) == "output: the right values times a factor"
    assert sentence(third, third, third, times(3 / 5)) == (
        "output: the right values times 1 / kernel_h in 3 of 4 failing cases, in the others "
        "output: the right values times 0.6"
    )


def test_what_a_refuted_reading_looks_like_is_what_the_cases_have_in_common() -> None:
    also = replace(of_readings(["variance stored"]), symptoms=ZERO.symptoms)
    assert sentence(also, also, ZERO) == "C: zero"
    assert sentence(also, also) == "matches: variance stored"


def test_errors_as_small_as_a_shorter_format_s_are_no_pattern_beside_larger_ones() -> None:
    words = f"{AS_SHORT} TF32"
    short = of_symptoms([Symptom(Kind.PRECISION, f"no simple pattern; {words}", outputs=("C",), general=words)])
    wrong = of_symptoms([Symptom(Kind.NO_PATTERN, Kind.NO_PATTERN, outputs=("C",))])
    assert sentence(short, wrong) == f"C: {Kind.NO_PATTERN}"
    assert sentence(short, short, short, short, wrong) == (f"C: no simple pattern; {words} in 4 of 5 failing cases")


def test_symptoms_are_joined_by_no_more_than_they_share() -> None:
    assert sentence(times(0.5), times(0.5)) == "output: the right values times 0.5"
    assert sentence(times(0.5), times(0.25)) == "output: the right values times a factor"
    both = "output: the right values times 0.5 in 1 of 2 failing cases, in the others C: zero"
    assert sentence(times(0.5), ZERO) == both


def test_a_reading_made_for_a_call_is_refuted_only_where_it_was_looked_for() -> None:
    stated, made = of_readings(["column-wise"]), replace(of_readings(["eps taken as 1"]), is_searched=True)
    other = replace(of_symptoms(ZERO.symptoms), is_searched=True)
    assert sentence(made, made, stated) == "matches: eps taken as 1"
    assert sentence(made, made, other) == "matches: eps taken as 1 in 2 of 3 failing cases"
    assert refuted([made, other, stated], "eps taken as 1") == [False, True, False]


def test_what_no_number_has_to_do_with_is_said_in_the_words_that_all_cases_share() -> None:
    few = Symptom(Kind.NO_NUMBER, "65536 where infinity is due", also=("numbers where infinity is due",))
    all_ = Symptom(Kind.NO_NUMBER, "numbers where infinity is due")
    told = [of_symptoms([replace(one, outputs=("y",))]) for one in (few, all_, all_)]
    assert sentence(*told) == "y: numbers where infinity is due"


def test_rows_with_factors_of_their_own_are_alike_whatever_the_factors() -> None:
    words = "every row times a factor of its own"
    few, more = (
        of_symptoms([Symptom(Kind.LINES, f"{words}, {reach}", outputs=("y",), general=words)])
        for reach in ("0.9 to 1.1", "0.5 to 2")
    )
    assert sentence(few, more) == f"y: {words}"
    columns = of_symptoms([Symptom(Kind.LINES, "every column plus 1", outputs=("y",))])
    assert sentence(few, columns) == f"y: {Kind.LINES}"


def test_numbers_that_are_none_are_alike_however_many() -> None:
    some, other, all_of_them = (
        of_symptoms([Symptom(Kind.NO_NUMBER, words, outputs=("C",), general="NaN")])
        for words in ("NaN in 3 of 8", "NaN in 5 of 9", "NaN")
    )
    assert sentence(some, other, all_of_them) == "C: NaN"


def test_where_runs_differ_wrong_numbers_of_no_pattern_are_no_other_mistake() -> None:
    varies = Diagnosis("the second run differs in output at [3]", symptoms=(Symptom(Kind.VARIES, Kind.VARIES),))
    wrong = of_symptoms([Symptom(Kind.NO_PATTERN, Kind.NO_PATTERN, outputs=("output",))])
    assert sentence(varies, varies, wrong, wrong) == Kind.VARIES
    half = "output: the right values times 0.5 in 2 of 3 failing cases"
    assert sentence(varies, wrong, times(0.5), times(0.5)) == half
    assert sentence(wrong, wrong) == f"output: {Kind.NO_PATTERN}"


def test_one_case_speaks_for_itself() -> None:
    told = of_readings_in_part(["alpha ignored"], "C: columns 0 to 31")
    assert sentence(told) == told.text
    assert join([Diagnosis("the second run differs")]) is None
    assert likeliest([]) == ""


def test_what_was_there_is_added_where_a_case_tells_it_from_read() -> None:
    words = "NaN where the output held NaN before, right where it held numbers: it is read"
    added = of_symptoms([Symptom(Kind.ADDED, Kind.ADDED, outputs=("C",))])
    read = of_symptoms([Symptom(Kind.READ, words, outputs=("C",))])
    either = of_symptoms([Symptom(Kind.READ, words, outputs=("C",), also=(Kind.ADDED,))])
    assert sentence(either, added, either) == "C: added to what was there"
    assert sentence(either, read, either) == f"C: {words}"


def test_that_runs_differ_follows_from_what_is_read() -> None:
    varies = Diagnosis("the second run differs in C at [3]", symptoms=(Symptom(Kind.VARIES, Kind.VARIES),))
    added = of_symptoms([Symptom(Kind.ADDED, Kind.ADDED, outputs=("C",))])
    assert sentence(added, varies, added) == "C: added to what was there"


def test_what_is_joined_says_which_cases_show_it() -> None:
    half, degenerate = times(0.5), of_readings(["sum in place of the mean"])
    joint = join([degenerate, half, half])
    assert joint is not None
    assert [joint.is_shown_by(one) for one in (degenerate, half)] == [False, True]
    alone = join([half])
    assert alone is not None
    assert alone.is_shown_by(half)


@pytest.mark.parametrize("name", ["softmax/plain/5x257", "softmax/plain/64x64", "softmax/plain/2x1025"])
def test_a_factor_of_one_less_is_recognised(name: str) -> None:
    case = CASES[name]
    arguments = case.arguments()
    columns = arguments["input"].shape[1]
    wrong = (reference.softmax(**arguments) * np.sqrt((columns - 1) / columns)).astype(np.float32)
    expected, got = expect("softmax", arguments), {"output": wrong}
    diagnosis = diagnose("softmax", arguments, expected, got, judge_outputs("softmax", arguments, expected, got))
    assert diagnosis is not None
    assert "sqrt ((cols - 1) / cols)" in diagnosis.symptoms[0].names
