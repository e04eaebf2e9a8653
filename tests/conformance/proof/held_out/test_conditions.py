"""Under which conditions a planted fault shows: what a held-out call meets, and none of the others."""

from __future__ import annotations

import math

import numpy as np
import pytest

from conformance.catalogue.cases import CASES, DESIGNED
from conformance.operations import OPERATIONS
from conformance.proof.held_out.conditions import Condition, conditions_of, hold, only_here
from conformance.proof.held_out.properties import FLOATS, WHOLE, Property, properties_of, value_of
from conformance.proof.held_out.slips import SLIPS, with_slip

ROWS = np.array([[1.0, 8.0, -0.0, 8.0], [np.nan, 0.0, np.inf, 2.0]], np.float32)


def test_what_an_array_holds_is_seen() -> None:
    seen = {what for what, measure in FLOATS.items() if measure(ROWS)}
    assert seen == {"a NaN", "an infinity", "a negative zero", "a zero", "exponent", "distance between maxima"}
    assert FLOATS["distance between maxima"](ROWS) == 2
    assert FLOATS["exponent"](ROWS) == 3
    rising = np.array([[-3.0, -2.0, -1.0]], np.float32)
    shaped = {what for what, measure in FLOATS.items() if measure(rising)}
    assert {"rows that rise", "no number above zero", "the maximum in the last column"} <= shaped
    assert not {"rows that fall", "the maximum in the first column", "a zero"} & shaped
    assert {what for what, measure in WHOLE.items() if measure(np.array([[-1, 4, 4]]))} == {
        "a negative number",
        "ascending numbers",
    }


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_property_of_every_operation_has_a_value(operation: str) -> None:
    case = next(iter(CASES.of(operation).values()))
    arguments = case.arguments()
    values = [value_of(operation, arguments, of) for of in properties_of(operation)]
    assert all(isinstance(value, int | float) for value in values)
    assert any(value > 0 for value in values)


def test_a_call_meets_its_own_conditions_and_none_of_the_chosen_ones_is_met_by_another() -> None:
    cases = [case.arguments() for case in DESIGNED.of("scale").values()]
    one, others = cases[5], [*cases[:5], *cases[6:]]
    conditions = conditions_of("scale", one)
    found = only_here("scale", conditions, others, [])
    assert {len(each) for each in found} == {1, 2}
    assert all(hold(each, "scale", one) for each in found)
    assert not any(hold(each, "scale", other) for each in found[:40] for other in others)
    pairs = [each for each in found if len(each) == 2]
    assert all(any(hold((half,), "scale", other) for other in others) for half in pairs[0])


def test_a_call_of_which_only_sizes_are_told_may_hold_anything() -> None:
    size = Condition(Property("n"), "size", 7, 7)
    values = Condition(Property("input", "a NaN"), "values", 1, 1)
    here = [{"input": np.full(7, np.nan, np.float32)}]
    assert only_here("silu", [size, values], [], [{"n": 7}]) == []
    assert only_here("silu", [size, values], [], [{"n": 8}]) == [(size,)]
    assert all(hold((one,), "silu", here[0]) for one in (size, values))
    assert size.described == "n == 7"
    assert values.described == "input has a NaN"
    assert Condition(Property("n"), "size", 65, math.inf).described == "n >= 65"


@pytest.mark.parametrize("slip", SLIPS)
def test_each_slip_changes_one_result_and_leaves_what_it_was_given(slip: str) -> None:
    given = np.array([[np.nan, -1.5], [2.25, 4.0]], np.float32)
    outputs = {"a": given, "b": [given, given]}
    before = given.copy()
    for name in outputs:
        changed = with_slip(outputs, name, slip, 3)
        [other] = {*outputs} - {name}
        assert changed[other] is outputs[other]
        array = changed[name][-1] if name == "b" else changed[name]
        assert not np.array_equal(array, given, equal_nan=True)
        assert array.shape == given.shape
    assert np.array_equal(given, before, equal_nan=True)
