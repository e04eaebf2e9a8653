"""The ratchet: what passed once must pass."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.catalogue.cases import CASES, REFUSALS, SEQUENCES
from conformance.commands.run.ratchet import Ratchet, move_on
from conformance.commands.run.ratchet_file import RatchetError, read_ratchet
from conformance.ids import operation_of
from conformance.judging.probes import probe_ids
from conformance.judging.results import Result, Status
from conformance.report.record import Run
from tests.compiler import compile_library
from tests.conformance.commands.small import FUNCTIONS, MATH, run, said

SILU = [id for id in (*CASES, *REFUSALS, *SEQUENCES, *probe_ids()) if operation_of(id) == "silu"]


def results(ids: list[str], status: Status = Status.PASS) -> list[Result]:
    return [Result(id, operation_of(id), status) for id in ids]


def step(status: Status = Status.PASS) -> Result:
    return Result("step1/locked/000 embedding", "embedding", status)


WHOLE = Run("lib.so", [*results(SILU), *results(["add/plain/1"]), step()])


def text(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if not line.startswith("#")]


def test_what_passes_is_added_sorted_an_operation_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "ratchet.txt"
    assert move_on(path, [Ratchet((), WHOLE)]) == f"{path}: added add/plain/1, silu, step1/locked"
    assert text(path) == ["add/plain/1", "silu", "step1/locked"]
    assert move_on(path, [Ratchet(text(path), WHOLE)]) == f"{path}: added nothing"
    assert [file.name for file in tmp_path.iterdir()] == ["ratchet.txt"]


def test_cases_give_way_to_their_operation_once_all_of_it_passes(tmp_path: Path) -> None:
    path = tmp_path / "ratchet.txt"
    path.write_text(f"# by Ada\n{SILU[1]}\n{SILU[0]}  # slow\n")
    partly = replace(WHOLE, results=results(SILU[:3]), whole=False)
    move_on(path, [Ratchet(text(path), partly)])
    assert path.read_text() == f"# by Ada\n{SILU[0]}  # slow\n{SILU[1]}\n{SILU[2]}\n"
    move_on(path, [Ratchet(SILU[:3], WHOLE)])
    assert text(path) == ["add/plain/1", "silu", "step1/locked"]


def test_only_what_passes_in_every_run_is_added(tmp_path: Path) -> None:
    path = tmp_path / "ratchet.txt"
    other = replace(WHOLE, results=[*results(SILU[1:]), *results(SILU[:1], Status.FAIL)])
    move_on(path, [Ratchet((), WHOLE), Ratchet((), other)])
    assert text(path) == []  # the first passes silu whole, the second its cases but one


@pytest.mark.parametrize("status", [Status.FAIL, Status.CRASHED, Status.TIMED_OUT, Status.NOT_RUN, Status.MISTRUSTED])
def test_what_no_longer_passes_is_a_problem(status: Status) -> None:
    judged = replace(WHOLE, results=[*results(SILU[1:]), *results(SILU[:1], status), step(status)])
    ratchet = Ratchet(["silu", SILU[1], SILU[0], "step1/locked"], judged)
    assert ratchet.problems() == [
        f"ratchet: silu passed once, and is now {status} (1 case of {len(SILU)})",
        f"ratchet: {SILU[0]} passed once, and is now {status}",
        f"ratchet: step1/locked passed once, and is now {status} (1 case of 1)",
    ]
    assert ratchet.sentence() == "ratchet: 1 of 4 entries hold"


def test_what_is_no_longer_exported_is_a_problem_even_where_only_what_is_exported_is_asked_for() -> None:
    left_out = {"step1/locked": ("silu",)}
    judged = Run("lib.so", results(["add/plain/1"]), absent=["silu"], left_out=left_out, exported=True)
    assert judged.code == 0
    problems = Ratchet(["add/plain/1", SILU[0], "silu", "step1/locked"], judged).problems()
    assert problems == [
        f"ratchet: {SILU[0]} passed once, and is not exported",
        "ratchet: silu passed once, and is not exported",
        "ratchet: step1/locked passed once, and needs silu, which is not exported",
    ]
    assert replace(judged, problems=problems).code == 1


def test_a_step_of_which_a_part_was_judged_does_not_hold() -> None:
    judged = Run("lib.so", [step()], whole=False, absent=["gemm"], exported=True)
    expected = "ratchet: step1/locked passed once, and needs gemm, which is not exported"
    assert Ratchet(["step1/locked"], judged).problems() == [expected]


def test_what_was_not_judged_is_not_spoken_of() -> None:
    judged = replace(WHOLE, results=results(SILU[:1]), whole=False)
    ratchet = Ratchet(["silu", "gemm", "step1/locked"], judged)
    assert ratchet.problems() == []
    assert ratchet.sentence() == "ratchet: 1 of 1 entries hold, 2 not judged here"
    assert ratchet.gained() == []  # nor is a step or an operation gained by a part of it


def test_what_is_waived_holds_and_is_not_gained() -> None:
    judged = replace(WHOLE, results=[*results(SILU[1:]), *results(SILU[:1], Status.WAIVED)])
    assert Ratchet(["silu"], judged).problems() == []
    assert "silu" not in Ratchet([], judged).gained()
    assert SILU[0] not in Ratchet([], judged).gained()


def test_nothing_is_taken_out_but_by_loosening(tmp_path: Path) -> None:
    path = tmp_path / "ratchet.txt"
    path.write_text("add\ngemm\n")
    judged = replace(WHOLE, results=[*results(["add/plain/1"], Status.FAIL)])
    move_on(path, [Ratchet(text(path), judged)])
    assert text(path) == ["add", "gemm"]
    assert move_on(path, [Ratchet(text(path), judged)], loosen=True) == f"{path}: added nothing; taken out: add"
    assert text(path) == ["gemm"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"add\nsilou\n", "line 2: expected an operation, a case or a training step of this version, got 'silou'"),
        (b"# x\n\nadd\nadd # again\n", "line 4: expected each entry once, got 'add' again"),
        (b"add\n\xff\n", "expected lines of UTF-8 text"),
    ],
)
def test_a_bad_file_is_refused_by_its_line(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "ratchet.txt"
    path.write_bytes(content)
    with pytest.raises(RatchetError) as error:
        read_ratchet(path)
    assert str(path) in str(error.value)
    assert message in str(error.value)


def test_a_file_that_is_not_there_is_an_error_unless_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "ratchet.txt"
    with pytest.raises(RatchetError, match=r"found nothing \(--update-ratchet writes it\)"):
        read_ratchet(path)
    assert read_ratchet(path, new=True).entries == {}
    with pytest.raises(RatchetError, match="found something else"):
        read_ratchet(tmp_path, new=True)


# ---- the ratchet, through the command ----------------------------------------------------------------------------
@pytest.mark.slow
def test_a_ratchet_holds_a_port_to_what_it_had(
    right: str, wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ratchet = tmp_path / "ratchet.txt"
    held = ("-o", "silu,add", "--exported", "--ratchet", str(ratchet))
    assert run("--library", right, *held) == 2
    assert "--update-ratchet writes it" in said(capsys)
    assert run("--library", right, *held, "--update-ratchet") == 0
    assert ratchet.read_text().splitlines()[1:] == ["add", "silu"]
    assert run("--library", right, *held) == 0
    assert "ratchet: 2 of 2 entries hold" in said(capsys)
    assert run("--library", wrong, *held, "--update-ratchet") == 1
    assert "ratchet: add passed once, and is now FAIL (" in said(capsys)
    assert ratchet.read_text().splitlines()[1:] == ["add", "silu"]
    lost = compile_library(FUNCTIONS.replace("SIGN", "+").replace("cuda_add", "other"), tmp_path, "lost", *MATH)
    assert run("--library", str(lost), *held) == 1
    assert (
        said(capsys)
        .splitlines()[-1]
        .endswith("ratchet: add passed once, and is not exported; 1 operation not exported.")
    )


def test_a_ratchet_is_updated_by_name_alone(right: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--library", right, "--update-ratchet") == 2
    assert "expected --ratchet FILE beside them" in said(capsys)
