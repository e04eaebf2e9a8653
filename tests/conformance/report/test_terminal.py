"""The first screen: the verdict, what is wrong by cause, failing rows first and alone."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Sequence
from typing import Any

import pytest
from rich.console import Console

from conformance.judging.diagnoses import of_readings
from conformance.judging.results import Result, Status
from conformance.judging.verdict import Verdict
from conformance.report.page import page
from conformance.report.record import Run, verdict
from conformance.report.terminal import close, show


def result(id: str, share: float = 0.5, *readings: str, status: Status | None = None) -> Result:
    fine = share <= 1
    reason = "" if fine else "output: 3 of 9 elements beyond their limit"
    judged = Verdict("output", fine, reason, 9, 0 if fine else 3, share, 0.3, 1.0, 0.1, 1.0, (0, 1), 1.0, 2.0, 0.5)
    how = status or (Status.PASS if fine else Status.FAIL)
    return Result(
        id, id.partition("/")[0], how, reason, (judged,), diagnosis=of_readings(readings) if readings else None
    )


def refusal(id: str, passed: bool) -> Result:
    reason = "" if passed else "returned 0; a call with input = null is to be refused"
    return Result(id, id.partition("/")[0], Status.PASS if passed else Status.FAIL, reason)


HALF = "half-split pairs"
RIGHT = [result(f"{name}/plain/{n}") for name in ("silu", "add", "softmax") for n in (1, 33)]
WRONG = [result(f"{name}/plain/{n}", 50.0, HALF) for name in ("rope_forward", "rope_qk_bf16") for n in (1, 33)]
UNREFUSED = [refusal("mul/refused/null_a", False), refusal("mul/refused/null_b", True), result("mul/plain/1")]


def printed(runs: Sequence[Run], width: int = 80, **options: Any) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    show(console, runs, **options)
    close(console, runs)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_the_verdict_is_the_first_line_and_the_last() -> None:
    for results in (RIGHT, [*RIGHT, *WRONG]):
        run = Run("lib.so", results)
        shown = printed([run])
        assert next(line for line in shown if line) == shown[-1] == verdict(run)


def test_one_mistake_is_one_block_with_its_reason_its_plainest_failure_and_the_command() -> None:
    shown = printed([Run("lib.so", [*RIGHT, *WRONG], library="lib.so")])
    assert shown[1].startswith("lib.so does not conform: 1 mistake explains 4 failures in 10 cases")
    assert shown[3] == f"1. rope_forward, rope_qk: matches: {HALF}"
    assert shown[4] == "   4 cases in float32 and bf16"
    assert "   FAIL rope_forward/plain/1" in shown
    assert sum("repeat: " in line for line in shown) == 1
    assert not any("rope_forward/plain/33" in line for line in shown)
    every = printed([Run("lib.so", [*RIGHT, *WRONG])], every=True)
    assert any("rope_forward/plain/33" in line for line in every)


def rows(shown: Sequence[str], heading: str) -> list[list[str]]:
    """The cells below a heading, up to an empty line."""
    start = next(place for place, line in enumerate(shown) if line.startswith(heading))
    table = shown[start:]
    return [line.split() for line in table[: table.index("")]]


def test_failing_rows_stand_alone_and_passing_families_take_a_line_each() -> None:
    shown = printed([Run("lib.so", [*RIGHT, *WRONG])])
    heading, *failing = rows(shown, "operation")
    assert heading == ["operation", "right", "error/limit"]
    assert [row[:2] for row in failing] == [["rope_forward", "0/2"], ["rope_qk_bf16", "0/2"]]
    assert rows(shown, "passed")[1:] == [
        ["elementwise", "2", "4", "0.500", "silu"],
        ["softmax", "1", "2", "0.500", "softmax"],
    ]
    every = rows(printed([Run("lib.so", [*RIGHT, *WRONG])], every=True), "operation")
    assert [row[0] for row in every[1:]] == ["silu", "add", "softmax", "rope_forward", "rope_qk_bf16"]


def test_refusals_are_a_column_and_a_sentence_of_their_own() -> None:
    shown = printed([Run("lib.so", [*RIGHT, *UNREFUSED])])
    assert shown[1] == "lib.so does not conform: what it computes is right; 1 call that it has to refuse did not pass."
    assert shown[3] == "1. mul: computes right, does not refuse"
    heading, row = rows(shown, "operation")
    assert dict(zip(heading, row, strict=True)) == {
        "operation": "mul",
        "right": "1/1",
        "refuses": "1/2",
        "error/limit": "0.500",
    }


def test_every_call_that_was_not_refused_is_named_and_one_command_repeats_them_all() -> None:
    more = [refusal("mul/refused/negative_n", False), refusal("add/refused/null_a", False)]
    crashed = dataclasses.replace(refusal("mul/refused/null_output", False), status=Status.CRASHED)
    shown = printed([Run("lib.so", [*RIGHT, *UNREFUSED, *more, crashed], library="lib.so")])
    assert "   mul: FAIL null_a, negative_n; CRASHED null_output" in shown
    assert "   add: FAIL null_a" in shown
    [again] = [line for line in shown if line.startswith("   repeat all: ")]
    assert again.endswith(" run --library lib.so -o mul,add -k /refused/")
    assert sum(line.startswith("   repeat: ") for line in shown) == 1


def test_of_many_operations_that_refuse_nothing_a_few_are_named() -> None:
    many = [refusal(f"operation{i}/refused/null_a", False) for i in range(20)]
    shown = printed([Run("lib.so", [*RIGHT, *many])])
    assert sum(line.endswith(": FAIL null_a") for line in shown) == 12
    assert "   and of 8 operations more (-v names them)" in shown
    every = printed([Run("lib.so", [*RIGHT, *many])], every=True)
    assert all(any(f"operation{i}/refused/null_a" in line for line in every) for i in range(20))


def test_a_mistake_of_three_orders_of_threads_is_one_block_and_one_column() -> None:
    runs = [Run(f"lib.so, {order}", [*RIGHT, *WRONG]) for order in ("forward", "reverse", "random:1")]
    shown = printed(runs)
    assert shown[1].startswith("lib.so (forward, reverse, random:1) does not conform: 1 mistake explains 4 failures")
    assert sum(line.startswith("1. ") for line in shown) == 1
    assert "   4 cases in float32 and bf16; seen by lib.so (forward, reverse, random:1)" in shown
    [row, _] = [line.split() for line in shown if line.startswith("rope")]
    assert row == ["rope_forward", "2", "of", "2", "wrong"]


def test_candidates_that_differ_have_a_column_each() -> None:
    fine = [dataclasses.replace(one, status=Status.PASS, verdicts=(), diagnosis=None, reason="") for one in WRONG]
    shown = printed([Run("old", [*RIGHT, *WRONG]), Run("new", [*RIGHT, *fine])])
    assert "operation" in shown[next(i for i, line in enumerate(shown) if line.endswith("new"))]
    [row, _] = [line.split() for line in shown if line.startswith("rope")]
    assert row == ["rope_forward", "2", "of", "2", "wrong", "passed"]


def test_a_hundred_operations_that_are_not_there_are_one_line() -> None:
    names = ["add", "mul", "scale", "softmax", "rmsnorm", "gemm"]
    absent = [Result(f"{name}/plain/1", name, Status.NOT_RUN, "not exported") for name in names]
    run = Run("lib.so", [*RIGHT[:2], *absent])
    [line] = [line for line in printed([run]) if line.startswith("NOT RUN")]
    assert line == "NOT RUN 6 cases of 6 operations: add, mul, scale, softmax and 2 more (-v names them)"
    [line] = [line for line in printed([run], every=True) if line.startswith("NOT RUN")]
    assert line.endswith(": add, mul, scale, softmax, rmsnorm, gemm")


def test_many_mistakes_are_an_overview_first() -> None:
    names = ["silu", "add", "mul", "scale", "softmax"]
    shown = printed([Run("lib.so", [result(f"{name}/plain/1", 9.0) for name in names])])
    assert [line.partition(":")[0] for line in shown[3:13:2]] == [f"{n}. {name}" for n, name in enumerate(names, 1)]
    assert sum("repeat: " in line for line in shown) == len(names)


@pytest.mark.parametrize("width", [80, 120])
def test_prose_is_folded_on_a_terminal_and_commands_stay_whole(width: int) -> None:
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    show(console, [Run("lib.so", [*RIGHT, *UNREFUSED], library="a/very/long/way/to/the/library/lib.so" * 3)])
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    long = [line for line in lines if len(line) > width and "does not conform" not in line]
    assert len(long) == 1
    assert long[0].startswith("   repeat: ")


def test_a_library_with_a_sanitiser_in_it_is_repeated_with_its_preload() -> None:
    shown = printed([Run("lib.so", WRONG, library="lib.so", preload="thread")])
    [line] = [line for line in shown if "repeat: " in line]
    started = "python cuda/emulator/preload.py thread python -m conformance run"
    assert line == f"   repeat: {started} --library lib.so --case 'rope_forward/plain/1'"


def test_elements_that_were_not_judged_never_read_as_judged() -> None:
    some, whole = (dataclasses.replace(RIGHT[0].verdicts[0], left_open=count) for count in (2, 9))
    cases = [dataclasses.replace(RIGHT[0], verdicts=(some,)), dataclasses.replace(RIGHT[1], verdicts=(whole,))]
    said = "11 of 18 elements of 2 cases were not judged: "
    [line] = [line for line in printed([Run("lib.so", [*RIGHT[2:], *cases])], every=True) if said in line]
    assert line.endswith("; of 1 case among them that is a whole output")
    assert not any("not judged" in line for line in printed([Run("lib.so", RIGHT)], every=True))
    assert said in page([Run("lib.so", cases)])
