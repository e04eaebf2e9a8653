"""A covering array: every level, every pair of classes, within the cost."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import pytest

from conformance.catalogue.design.covering import Covering, Factor, covering_rows, is_beyond

SIZE = Factor("n", (1, 2, 100), (0, 0, 1), "size")
OTHER = Factor("m", (1, 3, 200), (0, 0, 1), "size")
SCALAR = Factor("beta", (0.0, 1.0, 2.0), (0, 1, 2), "scalar")
DATA = Factor("x", ("plain", "exact", "nan"), (0, 0, 1), "data")
FACTORS = (SIZE, OTHER, SCALAR, DATA)


def free(row: Mapping[str, Any]) -> float:
    return 0.5


def area(row: Mapping[str, Any]) -> float:
    return row["n"] * row["m"] / 1000


def test_every_level_and_every_pair_stands_in_a_row() -> None:
    rows = covering_rows(FACTORS, free)
    for factor in FACTORS:
        assert {row[factor.name] for row in rows} == set(factor.levels)
    for scalar, value in itertools.product(SCALAR.levels, (0, 1)):
        assert any(row["beta"] == scalar and DATA.classes[DATA.levels.index(row["x"])] == value for row in rows)
    for size, value in itertools.product((0, 1), DATA.levels):  # data by level beside a size by class
        assert any(SIZE.classes[SIZE.levels.index(row["n"])] == size and row["x"] == value for row in rows)
    assert len(rows) < 3 * 3 * 3 * 3


def test_the_same_factors_give_the_same_rows() -> None:
    assert covering_rows(FACTORS, free) == covering_rows(FACTORS, free)


def test_no_row_costs_more_than_it_may_and_what_is_beyond_is_known() -> None:
    rows = covering_rows(FACTORS, area)
    assert all(area(row) <= 1 for row in rows)
    covering = Covering(FACTORS)
    for row in rows:
        covering.reach(covering.numbered(row))
    left = list(covering.beginnings())
    assert [covering.named(begun) for begun in left] == [{"n": 100, "m": 200}]
    assert is_beyond(covering, left[0], area)
    assert not is_beyond(covering, left[0], free)


def test_a_call_that_there_is_not_stands_in_no_row() -> None:
    rows = covering_rows(FACTORS, lambda row: None if row["n"] > row["m"] else 0.1)
    assert rows
    assert all(row["n"] <= row["m"] for row in rows)


def test_a_size_that_another_must_follow_is_not_beyond() -> None:
    def fits(row: Mapping[str, Any]) -> float | None:
        return None if row.get("n", 1) > row.get("m", 1) else 0.1

    covering = Covering(FACTORS)
    largest = {covering.factors.index(SIZE): len(SIZE.levels) - 1}
    assert not is_beyond(covering, largest, fits)
    assert {row["n"] for row in covering_rows(FACTORS, fits)} == {*SIZE.levels}


@pytest.mark.parametrize("missing", range(3))
def test_a_row_that_is_taken_away_is_missed(missing: int) -> None:
    covering = Covering(FACTORS)
    rows = covering_rows(FACTORS, free)
    for row in rows[:missing] + rows[missing + 1 :]:
        covering.reach(covering.numbered(row))
    assert covering.open > 0
