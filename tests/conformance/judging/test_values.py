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


def test_where_most_of_what_lies_there_is_right_nothing_is_said() -> None:
    x = drawn(4000)
    assert told([case((x > 4) & (rng.random(4000) < 0.1), x=x)]) == ""


def test_values_that_no_arrays_have_are_refused() -> None:
    [found, *_] = case(np.array([True, False]), x=np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match="expected wrong elements among those that lie so"):
        type(found)(**{name: getattr(found, name) for name in found.__dataclass_fields__} | {"inside": 0})
