"""A call may take a second longer than twenty times what it took when it was right; a look what it is allowed."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from conformance.proof.mutants import patience
from conformance.proof.mutants.patience import Allowance, Patience


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


def test_what_took_long_comes_last_and_what_never_passed_by_a_guess() -> None:
    kept = Patience(5.0)
    for case, seconds in {"slow": 3.0, "fast": 0.1, "middling": 1.0, "fast too": 0.05}.items():
        kept.note(case, seconds)
    guess = {"large": 2.0, "small": 0.0}
    asked = ["large", "slow", "middling", "fast", "small", "fast too"]
    ordered = kept.long_ones_last(asked, str, guess.__getitem__)
    assert ordered == ["fast", "small", "fast too", "middling", "large", "slow"]


def test_each_setting_has_as_much_time_and_what_it_leaves_out_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(patience, "time", SimpleNamespace(monotonic=lambda: now))
    allowance, asked = Allowance(10.0), []
    for _setting in range(2):
        for seconds in allowance.within([4.0, 5.0, 3.0, 1.0], str):
            asked.append(seconds)
            now += seconds
    assert asked == [4.0, 5.0, 3.0] * 2
    assert allowance.left_out == {"1.0"}


def test_an_allowance_of_no_end_leaves_nothing_out() -> None:
    allowance = Allowance()
    assert list(allowance.within("abc", str)) == list("abc")
    assert not allowance.left_out
