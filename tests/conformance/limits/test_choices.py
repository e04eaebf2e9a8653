"""Which columns a sampler may take: those that u may come to in some order that noise allows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.judging import outputs
from conformance.limits import choices
from conformance.limits.expectation import expect
from conformance.variants.honest import rearranged

HOT = float(np.float32(3.4e38))  # every probability is the same in any precision, nearly
SEEDS = np.arange(40, dtype=np.uint64) * np.uint64(999999937)
Arguments = dict[str, Any]


def given(logits: Any, **scalars: Any) -> Arguments:
    rows = np.broadcast_to(np.asarray(logits, np.float32), (len(SEEDS), np.shape(logits)[-1])).copy()
    return {"logits": rows, "seeds": SEEDS, **scalars}


def passes(operation: str, arguments: Arguments, got: Any) -> bool:
    with np.errstate(all="ignore"):
        expected = expect(operation, arguments)
        return outputs.passes(operation, arguments, expected, {"output": np.asarray(got, np.int32)})


def test_columns_of_nearly_equal_probabilities_are_ranked_by_logits_or_by_probabilities() -> None:
    logits = np.random.default_rng(0).normal(size=30)
    arguments = given(logits, top_p=0.7, temperature=HOT)
    by_probability = expect("topp_sample", arguments)["output"]
    by_logit = rearranged.REARRANGED["topp_sample"](**arguments | {"temperature": np.float32(HOT)})
    assert np.mean(by_probability != by_logit) > 0.5
    assert passes("topp_sample", arguments, by_logit)
    assert passes("topp_sample", arguments, by_probability)


def test_columns_of_one_logit_stand_in_their_order_whatever_the_temperature() -> None:
    arguments = given(np.zeros(30), top_p=1.0, temperature=HOT)
    due = expect("topp_sample", arguments)["output"]
    assert passes("topp_sample", arguments, due)
    assert not passes("topp_sample", arguments, (due + 2) % 30)


def test_columns_of_different_probabilities_stand_in_order() -> None:
    arguments = given(np.linspace(0, 3, 30), top_p=0.9, temperature=1.0)
    due = expect("topp_sample", arguments)["output"]
    assert not passes("topp_sample", arguments, 29 - due)
    wrong = due.copy()
    wrong[3] = (wrong[3] + 5) % 30
    assert not passes("topp_sample", arguments, wrong)


@pytest.mark.parametrize("largest", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("scalars", [{}, {"k": 1}, {"k": 3}, {"top_p": 0.7}])
def test_a_row_whose_largest_logit_is_no_finite_number_has_no_probability_that_is(
    largest: float, scalars: Arguments
) -> None:
    """So that any column of it may be taken, and nobody need look at each."""
    row = np.full((1, 5), largest, np.float32)
    row[0, 2:4] = -np.inf if np.isinf(largest) else 1
    arguments = {"logits": row, "seeds": SEEDS[:1], "temperature": 0.8, **scalars}
    probabilities, order = choices._walked(arguments, row)
    assert np.isnan(probabilities.v[order]).all()
    assert all(choices._may_stop_at(arguments, 0, column) for column in range(5))


@pytest.mark.parametrize("operation", ["sample", "topk_sample", "topp_sample"])
@pytest.mark.parametrize(
    ("logits", "temperature"),
    [([1.0, np.inf, 0.0], 1.0), ([np.nan, 1.0, 2.0], 1.0), ([-np.inf] * 3, 1.0), ([9.0, 8.0, -9.0], 1e-38)],
    ids=["inf", "nan", "all_masked", "overflow"],
)
def test_any_column_will_do_where_a_probability_is_no_number(
    operation: str, logits: list[float], temperature: float
) -> None:
    """The header leaves it open; what is no column is wrong all the same."""
    scalars = {"sample": Arguments(), "topk_sample": Arguments(k=2), "topp_sample": Arguments(top_p=0.7)}[operation]
    arguments = given(logits, temperature=float(np.float32(temperature)), **scalars)
    assert passes(operation, arguments, np.arange(40) % 3)
    for none in (-1, 3):
        assert not passes(operation, arguments, np.where(np.arange(40) == 7, none, 0))
