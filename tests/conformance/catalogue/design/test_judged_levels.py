"""What counts of a row: not what nothing is known of, so that another row has to show it."""

from __future__ import annotations

import numpy as np

from conformance.catalogue.design.coverage import coverage
from conformance.catalogue.design.covering import JudgedLevels, Row, covering_rows
from conformance.catalogue.design.judged_levels import Known, judges_of, known_of
from conformance.catalogue.design.rows import choose, rows_of
from conformance.catalogue.design.space import space_of
from conformance.limits.noise import Noisy
from tests.conformance.catalogue.design.test_covering import FACTORS, free

OVERFLOWING = {"M": 1, "N": 1, "K": 65537, "alpha": 300.0, "beta": 0.0, "A": "late", "B": "late", "C": "plain"}
PLAIN = OVERFLOWING | {"A": "plain", "B": "plain"}
HIDDEN = {"n": 2, "gate": "special", "up": "subnormal"}  # an infinity times a number that may be flushed to zero
SHOWN = {"n": 65, "gate": "tiny", "up": "signed"}


def test_what_is_known_of_results() -> None:
    sure = Noisy(np.array([1.0, np.inf]), np.zeros(2), np.zeros(2), None)
    half = Noisy(np.array([1.0, 3.0]), np.array([0.0, np.inf]), np.zeros(2), None)
    none = Noisy(np.array([1.0]), np.array([np.inf]), np.zeros(1), None)
    assert known_of({"a": sure}) == Known(any=True, every=True, infinite=True)
    assert known_of({"a": half}) == Known(any=True, every=False, infinite=False)
    assert known_of({"a": none}) == Known(any=False, every=False, infinite=False)
    assert known_of({"a": none, "places": np.array([3])}) == Known(any=True, every=False, infinite=False)


def test_a_row_counts_for_nothing_where_nothing_is_known_and_not_for_special_values_that_nothing_shows() -> None:
    products = judges_of(space_of("gemm_nn_fp16"))
    assert products(OVERFLOWING) == frozenset()
    assert products(PLAIN) == frozenset(PLAIN)
    gated = judges_of(space_of("swiglu"))
    assert gated(HIDDEN) == {"n", "up"}
    assert gated(SHOWN) == frozenset(SHOWN)


def test_another_row_is_chosen_where_the_first_would_judge_nothing() -> None:
    space, refused = space_of("scale"), choose("scale")[-1]
    judges: JudgedLevels = lambda row: frozenset() if row == refused else frozenset(row)  # noqa: E731
    rows = choose("scale", judges=judges)
    assert refused not in rows
    assert coverage(space, rows, judges).missing == 0


def test_what_a_row_alone_shows_is_missing_where_it_judges_nothing() -> None:
    space, standing = space_of("swiglu"), rows_of("swiglu")
    assert coverage(space, standing).missing == 0
    alone = next(row for row in standing if coverage(space, [one for one in standing if one is not row]).missing)
    assert coverage(space, standing, lambda row: frozenset() if row == alone else frozenset(row)).missing > 0


def test_what_no_row_judges_is_given_up_and_not_missing() -> None:
    def judges(row: Row) -> set[str]:
        return {*row} - ({"x"} if row["x"] == "nan" else set())

    rows = covering_rows(FACTORS, free, judges=judges)
    assert {row["n"] for row in rows} == {1, 2, 100}
    space = space_of("silu")
    found = coverage(space, rows_of("silu"), lambda row: {*row} - ({"input"} if row["input"] == "lone" else set()))
    assert found.missing == 0
    assert found.open > 0
    assert found.goals == found.reached + found.beyond + found.open
