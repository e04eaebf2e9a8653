"""Planted races: each found and named, by block, thread, file and line."""

from __future__ import annotations

import re

import pytest

from tests.emulator.programs import SOURCES, Programs, marked, names_in

RACES = names_in("races.cu")
# Those whose order within a block decides the result: they come out wrong in some order without any detector.
WITHIN_A_BLOCK = [
    "missing_syncthreads",
    "missing_syncwarp",
    "shared_array_reused",
    "halves_that_do_not_meet",
    "tiles_that_do_not_meet",
    "read_too_early",
]


@pytest.mark.slow
@pytest.mark.parametrize("schedule", ["forward", "random"])
@pytest.mark.parametrize("race", RACES)
def test_the_race_detector_names_it(thread: Programs, race: str, schedule: str) -> None:
    outcome = thread.run(race, schedule=schedule)
    assert outcome.status == 66
    places = re.findall(r"SUMMARY: ThreadSanitizer: data race ([^\s:]+:\d+)", outcome.said)
    assert places
    marks = {SOURCES.parent / place for place in marked("races.cu", f"RACE {race}")}
    assert {SOURCES.parent / place for place in places} <= marks  # newer detectors say the whole path
    assert re.search(r"'block \(\d+,0,0\) thread \(\d+,0,0\)( or \d+ i on)?'", outcome.said)


@pytest.mark.parametrize("mistake", names_in("async_mistakes.cu"))
def test_a_copy_that_is_not_waited_for_shows_in_some_order(fast: Programs, mistake: str) -> None:
    orders = [("forward", 1), ("reverse", 1), *(("random", seed) for seed in range(1, 4))]
    outcomes = [fast.run(mistake, schedule=schedule, seed=seed) for schedule, seed in orders]
    assert f"{mistake} wrong cudaSuccess" in [line for outcome in outcomes for line in outcome.lines]


@pytest.mark.parametrize("mistake", ["copy_without_barrier", "stage_filled_again"])
def test_the_race_detector_names_who_reads_what_others_copy(thread: Programs, mistake: str) -> None:
    outcome = thread.run(mistake, schedule="reverse")
    assert outcome.status == 66
    (place,) = marked("async_mistakes.cu", f"MISTAKE {mistake}")
    assert place.rpartition("/")[2] in outcome.said


@pytest.mark.parametrize("race", WITHIN_A_BLOCK)
def test_some_order_shows_it_without_a_detector(fast: Programs, race: str) -> None:
    orders = [("forward", 1), ("reverse", 1), *(("random", seed) for seed in range(1, 4))]
    outcomes = [fast.run(race, schedule=schedule, seed=seed) for schedule, seed in orders]
    assert f"{race} wrong cudaSuccess" in [line for outcome in outcomes for line in outcome.lines]
    assert all(outcome.said == "" for outcome in outcomes)
