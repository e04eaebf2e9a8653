"""Candidates take turns, and ratios are those within a round."""

from __future__ import annotations

from itertools import count

import pytest

from benchmarks.interleaved import Rounds, Spread, ratio, spread, take_turns


def test_candidates_take_turns_and_the_rounds_before_do_not_count() -> None:
    called: list[str] = []
    candidates = {name: lambda name=name: called.append(name) for name in "AB"}
    seconds = take_turns(candidates, Rounds(least=2, most=2, seconds=0.0), warmup=1)
    assert "".join(called) == "ABABAB"
    assert [len(rounds) for rounds in seconds.values()] == [2, 2]


def test_each_call_is_timed_by_itself() -> None:
    ticks = count()  # a clock that goes on by one whenever it is read
    seconds = take_turns({"A": int, "B": int}, Rounds(least=3, most=3, seconds=0.0), clock=lambda: next(ticks))
    assert seconds == {"A": [1, 1, 1], "B": [1, 1, 1]}


@pytest.mark.parametrize(("seconds", "expected"), [(0.0, 2), (3600.0, 5)])
def test_rounds_end_with_the_time_or_with_their_number(seconds: float, expected: int) -> None:
    taken = take_turns({"A": int}, Rounds(least=2, most=5, seconds=seconds))
    assert len(taken["A"]) == expected


def test_the_spread_is_the_median_and_the_quartiles() -> None:
    assert spread([5.0, 1.0, 4.0, 2.0, 3.0]) == Spread(median=3.0, lower=2.0, upper=4.0)
    assert spread([7.0]) == Spread(7.0, 7.0, 7.0)
    assert str(Spread(1.234, 1.0, 2.0)) == "1.23 (1.00 to 2.00)"


def test_a_machine_that_slows_down_leaves_ratios_alone() -> None:
    slower = [1.0, 2.0, 8.0, 16.0, 64.0]
    assert ratio([3 * seconds for seconds in slower], slower) == Spread(3.0, 3.0, 3.0)


def test_one_disturbed_round_leaves_the_median_ratio_alone() -> None:
    assert ratio([2.0, 2.0, 50.0, 2.0, 2.0], [1.0] * 5) == Spread(2.0, 2.0, 2.0)


def test_times_of_different_rounds_have_no_ratio() -> None:
    with pytest.raises(ValueError, match="expected times of the same rounds, got 2 and 3"):
        ratio([1.0] * 2, [1.0] * 3)
    with pytest.raises(ValueError, match="expected at least one value, got none"):
        spread([])
