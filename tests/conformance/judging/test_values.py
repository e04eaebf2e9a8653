"""Of which values of an input a result is said to be wrong."""

from __future__ import annotations

import re

import numpy as np
import pytest

from conformance.judging.values import Numbers, Values, told, values

rng = np.random.default_rng(5)


def case(wrong: Numbers, **inputs: Numbers) -> list[Values]:
    """What is found of a case where the output is wrong at these elements."""
    return list(values("output", wrong.astype(bool), inputs)) if wrong.any() else []


def drawn(size: int = 400, scale: float = 10.0) -> Numbers:
    return rng.normal(size=size) * scale


def test_a_bound_of_one_side_is_said_as_the_roundest_number_between_right_and_wrong() -> None:
    assert told([case(x < -18, gate=x, up=drawn()) for x in (drawn(), drawn())]) == "only where gate is below -18"
    assert told([case(x > 4, input=x) for x in (drawn(), drawn())]) == "only where input is above 4"


def test_an_interval_is_said_with_both_of_its_bounds() -> None:
    x = drawn(4000)
    assert told([case((x > 4) & (x < 6), x=x)]) == "only where x is 4 to 6"
    assert told([case((abs(x) > 4) & (abs(x) < 6), x=x)]) == "only where |x| is 4 to 6"
    assert told([case(abs(x) < 1, x=x)]) == "only where |x| is below 1"


def test_an_interval_that_reaches_to_infinity_has_one_bound() -> None:
    x = drawn(4000)
    x[::50] = -np.inf
    text = told([case(x < -18, x=x), case((x < -18) & (x > -30), x=x)])
    assert re.fullmatch(r"only where x is below -18(\.\d+)?", text)


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinite"), (0.0, "0")])
def test_special_values_are_named(value: float, word: str) -> None:
    x = drawn()
    x[::40] = value
    assert told([case(np.isin(np.arange(400), np.arange(0, 400, 40)), x=x, y=drawn())]) == f"only where x is {word}"


def test_of_several_inputs_one_that_tells_is_named_before_any_of_them() -> None:
    a, b = drawn(), drawn()
    a[::40] = 0
    b[7::40] = 0
    assert told([case(a == 0, a=a, b=b)]) == "only where a is 0"
    assert told([case((a == 0) | (b == 0), a=a, b=b)]) == "only where an input is 0"


def test_what_holds_in_most_cases_says_in_how_many() -> None:
    cases = [case(x < -5, x=x) for x in (drawn(), drawn(), drawn(), drawn())]
    lone = drawn()
    lone[3] = np.nan
    assert told([*cases, case(np.isnan(lone), x=lone)]) == "only where x is below -5 in 4 of 5 cases"
    assert told([*cases, *[case(np.isnan(lone), x=lone)] * 4]) == ""


def test_what_chance_brings_about_is_not_said() -> None:
    for _ in range(200):
        cases = [case(rng.random(50) < 0.1, x=drawn(50), y=drawn(50)) for _ in range(4)]
        assert told([each for each in cases if each]) == ""


def test_cases_of_which_nothing_is_known_are_counted() -> None:
    cases = [case(x < -5, x=x) for x in (drawn(), drawn(), drawn())]
    assert told([*cases, *[[]] * 7]) == "only where x is below -5 in 3 of 10 cases"
    assert told([[], []]) == told([]) == ""


def test_a_wrong_value_is_not_said_to_lie_outside_of_what_is_wrong() -> None:
    x = np.repeat(np.arange(-40.0, 11.0), 20)
    assert told([case(x <= -18, x=x)]) == "only where x is below -17.5"
    assert told([case(x >= 3, x=x)]) == "only where x is above 2"
    assert told([case(abs(x) <= 3, x=x)]) == "only where x is -3.5 to 3.5"
    assert told([case((x >= 4) & (x <= 6), x=x)] * 3) == "only where x is 4 to 6"


@pytest.mark.parametrize(("sign", "words"), [(1, "1.234 or more"), (-1, "-1.234 or less")])
def test_a_bound_that_only_wrong_values_tell_is_one_of_them_and_leaves_none_out(sign: int, words: str) -> None:
    """What is right in one case lies behind what is wrong in the other; to the nearest, 1.23466 is 1.235."""
    right, wrong = np.linspace(-0.1, 0.1, 400), [np.linspace(low, 9, 40) for low in (1.23466, 1.3)]
    first, second = np.concatenate([wrong[0], right]), np.concatenate([wrong[1], right, [1.25]])
    cases = [case(first > 1, x=sign * first), case(second > 1.26, x=sign * second)]
    assert told(cases) == f"only where x is {words}"


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("grain", [10.0**-places for places in range(3, 16, 2)])
def test_no_sentence_leaves_out_a_wrong_value(grain: float, sign: int) -> None:
    """However near to a wrong value the next right one is: fewer digits than part them are not said to."""
    drawn_ = np.random.default_rng(int(1 / grain))
    for _ in range(10):
        bound = drawn_.uniform(2, 10)
        x = sign * (bound + grain * drawn_.integers(-1000, 300, 2000))
        wrong = sign * x >= bound
        text = told([case(wrong, x=x)])
        found = re.fullmatch(r"only where x is (?:(above|below) (\S+)|(\S+) or (more|less))", text)
        assert found, text
        number, at = float(found[2] or found[3]), x[wrong]
        tests = {"above": at > number, "below": at < number, "more": at >= number, "less": at <= number}
        assert tests[found[1] or found[4]].all(), text


@pytest.mark.parametrize("value", [-0.2, np.nan, 0.0])
def test_an_input_of_each_row_is_one_witness_a_row(value: float) -> None:
    rows, bad = np.array([0.5, 0.3, 0.8, value]), np.zeros((4, 100), bool)
    bad[3] = True
    spread, x = np.repeat(rows[:, None], 100, axis=1), np.abs(drawn(400)).reshape(4, 100) + 1
    assert told([list(values("output", bad, {"y": spread}, {"y": 100}))]) == ""
    assert told([list(values("output", bad, {"x": x, "y": spread}, {"y": 100}))]) == ""
    many, hit = np.tile(spread, (20, 1)), np.tile(bad, (20, 1))
    word = {-0.2: "negative", 0.0: "0"}.get(value, "NaN")
    assert told([list(values("output", hit, {"y": many}, {"y": 100}))]) == f"only where y is {word}"


def test_of_an_input_of_each_row_and_one_of_each_element_each_is_a_witness_where_it_is() -> None:
    x, y = np.ones((10, 100)), np.ones((10, 100))
    y[2], x[5, :7], x[2, :9] = np.nan, np.nan, np.nan  # what row 2 of x holds says nothing that y did not
    found = values("output", np.isnan(x) | np.isnan(y), {"x": x, "y": y}, {"y": 100})
    [of_any] = [one for one in found if one.input == "an input"]
    assert (of_any.wrong, of_any.different) == (107, 8)


def test_values_of_two_signs_are_one_size() -> None:
    x = np.tile([-3.0, 3.0, *np.linspace(0.1, 1, 8)], 10)
    found = {one.kind.name: one.different for one in case(abs(x) > 2, x=x)}
    assert (found["LARGE"], found["OF_SIZE"], found["BETWEEN"]) == (1, 1, 2)


def test_where_most_of_what_lies_there_is_right_nothing_is_said() -> None:
    x = drawn(4000)
    assert told([case((x > 4) & (rng.random(4000) < 0.1), x=x)]) == ""


def test_values_that_no_arrays_have_are_refused() -> None:
    [found, *_] = case(np.array([True, False]), x=np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match="expected wrong elements among those that lie so"):
        type(found)(**{name: getattr(found, name) for name in found.__dataclass_fields__} | {"inside": 0})
