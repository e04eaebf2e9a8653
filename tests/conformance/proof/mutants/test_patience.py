"""A call may take a second longer than twenty times what it took when it was right."""

from __future__ import annotations

from conformance.proof.mutants.patience import Patience


def test_a_case_that_never_passed_is_given_the_most() -> None:
    assert Patience(5.0).limit_s("one") == 5.0


def test_a_case_is_given_time_by_the_shortest_that_it_took() -> None:
    patience = Patience(5.0)
    for seconds in (0.03, 0.02, 0.1):
        patience.note("one", seconds)
    assert patience.limit_s("one") == 1.4
    assert patience.limit_s("other") == 5.0


def test_a_long_case_is_given_more_than_one_that_never_passed() -> None:
    patience = Patience(5.0)
    patience.note("one", 2.0)
    assert patience.limit_s("one") == 41.0
