"""What is shown while a run goes on."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pytest
from rich.console import Console

from conformance.judging.diagnoses import of_readings
from conformance.judging.results import Result, Status
from conformance.report import progress
from conformance.report.progress import Follower


def failed(id: str, *readings: str) -> Result:
    return Result(id, id.partition("/")[0], Status.FAIL, "wrong", diagnosis=of_readings(readings) if readings else None)


def followed(results: Sequence[Result], total: int = 0, **options: bool) -> list[str]:
    """The lines that a pipe is shown."""
    file = io.StringIO()
    follower = Follower(Console(file=file, width=80), **options)
    assert list(follower.follow([[result] for result in results], total)) == list(results)
    return file.getvalue().splitlines()


PASSED = Result("silu/plain/1", "silu", Status.PASS)
ABSENT = Result("add/plain/1", "add", Status.NOT_RUN, "not exported")


def test_a_mistake_is_a_line_once_for_each_operation_and_reading_whatever_the_format() -> None:
    shown = followed(
        [
            failed("gemm/plain/1", "alpha ignored", "beta ignored"),
            failed("gemm/plain/2", "beta ignored"),
            failed("gemm_bf16/plain/1", "alpha ignored"),
            failed("gemm/plain/3", "B not transposed"),
            failed("silu/plain/1"),
            failed("silu/plain/2"),
            PASSED,
            ABSENT,
        ]
    )
    assert shown == [
        "FAIL gemm/plain/1: matches: alpha ignored, or beta ignored",
        "FAIL gemm/plain/3: matches: B not transposed",
        "FAIL silu/plain/1: wrong",
    ]


def test_calls_that_were_not_refused_are_one_line() -> None:
    assert followed([failed(f"{name}/refused/null") for name in ("silu", "add", "mul")]) == [
        "FAIL silu/refused/null: wrong"
    ]


def test_what_a_mistake_makes_wrong_in_a_free_step_is_one_line() -> None:
    calls = [Result(f"steps/free/1.{n:03d} add of x", "add", Status.FAIL, "wrong") for n in range(9)]
    locked = Result("step1/locked/043 silu of x", "silu", Status.FAIL, "off")
    assert followed([*calls, locked]) == [
        "FAIL steps/free/1.000 add of x: wrong",
        "FAIL step1/locked/043 silu of x: off",
    ]


def test_two_candidates_with_one_mistake_have_one_line() -> None:
    file = io.StringIO()
    follower = Follower(Console(file=file))
    for _ in ("forward", "reverse"):
        assert len(list(follower.follow([[failed("silu/plain/1")]], 1))) == 1
    assert len(file.getvalue().splitlines()) == 1


def test_every_result_is_a_line_where_that_is_asked_for_and_none_where_nothing_is() -> None:
    assert followed([PASSED, failed("add/plain/1")], every=True) == ["PASS silu/plain/1", "FAIL add/plain/1"]
    assert followed([failed("add/plain/1")], quiet=True) == []


def test_a_log_has_a_line_now_and_then_that_tells_what_failed_from_what_was_not_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(progress, "HEARTBEAT_S", -1.0)
    shown = followed([PASSED, ABSENT, failed("mul/plain/1")], total=3, quiet=True)
    assert shown == [
        "  1 of about 3 cases judged",
        "  2 of about 3 cases judged, 1 not run",
        "  3 of about 3 cases judged, 1 failed, 1 not run",
    ]
    assert followed([PASSED], total=0) == ["  1 case judged"]
