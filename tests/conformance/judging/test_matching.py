"""A reading is compared by what its own numbers hold, not by what a wider format than theirs would."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.judging.diagnoses import Diagnosis
from conformance.judging.diagnosis import diagnose
from conformance.judging.outputs import judge_outputs
from conformance.limits.expectation import expect

FROM_0 = "maximum that begins at 0"
NEAR, FAR, BETWEEN = -0.5, -200.0, -95.0  # exp of it is a normal number, none, and subnormal


def _told(logits: list[list[float]], came: Any) -> Diagnosis:
    """What is said of a softmax of these rows."""
    arguments: dict[str, Any] = {"input": np.array(logits, np.float32)}
    expected, got = expect("softmax", arguments), {"output": np.asarray(came, np.float32)}
    found = diagnose("softmax", arguments, expected, got, judge_outputs("softmax", arguments, expected, got))
    assert found is not None
    return found


def _from_0(logits: list[list[float]]) -> Any:
    """With exponentials that are subnormal taken for zero."""
    x = np.array(logits, np.float32)
    exponentials = np.exp(x - np.maximum(x.max(axis=1, keepdims=True), np.float32(0)))
    exponentials[exponentials < np.finfo(np.float32).smallest_normal] = 0
    with np.errstate(invalid="ignore"):
        return exponentials / exponentials.sum(axis=1, keepdims=True)


def test_what_vanishes_in_float32_alone_is_none_in_the_reading_too() -> None:
    """In float64, in which readings carry their noise, exp(-200) is a number."""
    rows = [[NEAR, -1.0], [FAR, -201.0], [-3.0, -2.5]]
    assert FROM_0 in _told(rows, _from_0(rows)).readings


def test_where_nothing_is_known_of_a_reading_the_rest_tells() -> None:
    rows = [[NEAR, -1.0], [FAR, -201.0], [BETWEEN, BETWEEN], [-3.0, -2.5]]
    assert FROM_0 in _told(rows, _from_0(rows)).readings


def test_a_reading_of_which_nothing_is_known_matches_nothing() -> None:
    rows = [[BETWEEN, BETWEEN], [BETWEEN, -96.0]]
    assert FROM_0 not in _told(rows, np.full((2, 2), 7.0)).readings


def test_a_reading_that_gives_what_is_right_but_for_roundings_is_not_refuted() -> None:
    """Of one column the right answer is 1, whatever the maximum; a quotient by its reciprocal errs by a digit."""
    told = _told([[NEAR], [-1.5], [-0.25]], [[1.0], [1 - 2.0**-24], [1.0]])
    assert FROM_0 in told.untried
    assert FROM_0 not in told.readings
