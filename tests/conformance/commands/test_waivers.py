"""Waivers: what they cover, when they end, and what is said of those that waive nothing."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from conformance.commands.run.waivers import Waiver, WaiverError, read_waivers, waive
from conformance.exit_codes import FAILED, HARNESS, PASSED
from conformance.judging.results import Result, Status, exit_code

TODAY = datetime.date(2026, 6, 1)
FAILING = Result("softmax/special/3x33", "softmax", Status.FAIL, "output: 3 of 99 elements beyond their limit")
PASSING = Result("softmax/plain/1x2", "softmax", Status.PASS)
RESULTS = (PASSING, FAILING)


def waiver(case: str, expires: datetime.date = TODAY) -> Waiver:
    return Waiver(case, "Ada", "on purpose", expires)


def test_a_failure_is_waived_until_its_last_day() -> None:
    judged, problems = waive(RESULTS, [waiver("softmax/special/*")], TODAY, whole=True)
    assert (judged[1].status, problems) == (Status.WAIVED, [])
    assert judged[1].waiver == "Ada: on purpose (until 2026-06-01)"
    assert judged[1].reason == FAILING.reason
    assert exit_code(judged) == PASSED


def test_an_expired_waiver_waives_nothing() -> None:
    judged, problems = waive(RESULTS, [waiver("softmax/special/*", TODAY - datetime.timedelta(1))], TODAY, whole=True)
    assert judged == list(RESULTS)
    assert problems == ["waiver of softmax/special/*: expired on 2026-05-31 (Ada: on purpose)"]
    assert exit_code(judged) == FAILED


@pytest.mark.parametrize(
    ("case", "whole", "said"),
    [
        ("softmax/plain/1x2", False, "no longer needed, its case passes"),
        ("softmax/plain/*", True, "no longer needed, its case passes"),
        ("rope/*", True, "no such case"),
        ("rope/*", False, ""),  # it may speak of a case that was not judged
        ("softmax/special", False, ""),
    ],
)
def test_a_waiver_that_waives_nothing(case: str, whole: bool, said: str) -> None:
    _, problems = waive(RESULTS, [waiver(case)], TODAY, whole)
    assert problems == ([f"waiver of {case}: {said}"] if said else [])


def test_a_mistrusted_case_is_the_judge_s_own_failure() -> None:
    mistrusted = Result("softmax/plain/1x2", "softmax", Status.MISTRUSTED, "zeros would pass")
    judged, problems = waive([mistrusted], [waiver("*")], TODAY, whole=True)
    assert (judged, problems) == ([mistrusted], [])
    assert exit_code(judged) == HARNESS


GOOD = 'case = "a"\nowner = "Ada"\nreason = "b"\nexpires = 2026-06-01\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[waiver]\n", "waivers.toml: Expected"),
        ("[waiver]\n" + GOOD, "expected \\[\\[waiver]] tables"),
        ("[[waivers]]\n" + GOOD, "got waivers"),
        ("[[waiver]]\n" + GOOD + "when = 1\n", "waiver 1: has an unknown when"),
        ("[[waiver]]\n" + GOOD.replace('"b"', '" "'), "waiver 1: reason: expected words, got ' '"),
        ("[[waiver]]\n" + GOOD.replace("2026-06-01", '"2026-06-01"'), "expires: expected a date"),
        ("[[waiver]]\n" + GOOD.replace("2026-06-01", "2026-06-01T00:00:00"), "expires: expected a date"),
    ],
)
def test_a_file_that_cannot_be_read_says_what_is_wrong(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "waivers.toml"
    file.write_text(text)
    with pytest.raises(WaiverError, match=said):
        read_waivers(file)


def test_reading(tmp_path: Path) -> None:
    file = tmp_path / "waivers.toml"
    file.write_text(f"[[waiver]]\n{GOOD}\n[[waiver]]\n{GOOD}")
    assert read_waivers(file) == [Waiver("a", "Ada", "b", TODAY)] * 2
    with pytest.raises(WaiverError, match="nowhere"):
        read_waivers(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("case", "covered"),
    [
        ("softmax/*", True),
        ("*/special/*", True),
        ("softmax/special/3x33", True),
        ("softmax/special/3x3", False),
        ("*special*33", True),
        ("softmax*softmax*", False),
        ("softmax/special/3x33*3", False),
        ("*" * 5_000 + "33", True),
        ("*s" * 5_000 + "*", False),  # by trying every way to divide an id this took a minute
    ],
)
def test_a_star_stands_for_anything(case: str, covered: bool) -> None:
    assert waiver(case).covers(FAILING.id) is covered
