"""`explain`, `diff` and `inspect`: what they print and return."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from conformance.candidates.finding import Finding, Misdeed
from conformance.catalogue.cases import CASES, REFUSALS, SEQUENCES
from conformance.commands.cli import main
from conformance.judging.results import Result, Status
from conformance.judging.verdict import Verdict
from conformance.report.files import ReportError, read_jsonl, write_jsonl
from conformance.report.record import Run
from conformance.steps import DIVIDED, ENVELOPES, FREE, RECOMPUTED, RESIDENT
from tests.conformance.runs import judged

ROPE = "rope_forward/plain/2x33x3x16x0"


def test_explain_says_what_a_case_is_made_of_and_what_it_catches(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", ROPE]) == 0
    out = capsys.readouterr().out
    for said in ("batch = 2", "float32 [2, 33, 3, 16]", "8 sigma for 3072", "half-split pairs: ", f"--case '{ROPE}'"):
        assert said in out
    assert "offset ignored" in out.partition("left to others")[2]


@pytest.mark.parametrize("operation", sorted({case.operation for case in CASES.values()}))
def test_every_operation_can_be_explained(operation: str, capsys: pytest.CaptureFixture[str]) -> None:
    ids = [next(id for id, case in few.items() if case.operation == operation) for few in (CASES, REFUSALS, SEQUENCES)]
    assert [main(["explain", id]) for id in ids] == [0, 0, 0]
    out = capsys.readouterr().out
    assert "returns -2 and writes nothing" in out
    assert "sizes that alternate" in out


def test_a_call_at_full_size_can_be_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "full/rmsnorm_backward"]) == 0
    out = capsys.readouterr().out
    for said in ("rows = 8192", "61 along rows", "in 8192 places, each times a power of two", "float32 [8192, 768]"):
        assert said in out
    assert "limit" in out.partition("d_weight        limit")[1]
    assert "--case 'full/rmsnorm_backward'" in out
    assert main(["explain", "full/softmax"]) == 0
    assert "256 tokens: with 8,192 each array of logits is 1 GB" in capsys.readouterr().out


def test_explain_of_steps_and_of_what_does_not_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "step1/locked/004 rmsnorm(layers.0.attn_norm)"]) == 0
    assert "run --library PATH --case" in capsys.readouterr().out
    assert main(["explain", "rope_forward/plain/2x33"]) == 2
    assert f"perhaps {ROPE}" in capsys.readouterr().out


def test_no_two_kinds_of_step_are_explained_alike(capsys: pytest.CaptureFixture[str]) -> None:
    told = {}
    for step in ("step1/locked", FREE, RECOMPUTED, DIVIDED, RESIDENT, next(iter(ENVELOPES))):
        assert main(["explain", step]) == 0
        told[step] = capsys.readouterr().out.partition("\n\n")[2].partition("\nrun")[0]
    assert len(set(told.values())) == len(told)
    assert "micro-batches" in told[DIVIDED]


def result(id: str, status: Status = Status.PASS, share: float = 0.5, reason: str = "") -> Result:
    verdict = Verdict("output", status is Status.PASS, reason, 9, 1, share, 0.3, 1.0, 0.1, np.inf, (1, 2), 1.0, np.nan)
    return Result(
        id,
        id.partition("/")[0],
        status,
        reason,
        (verdict,),
        (Finding(Misdeed.STRAY_WRITE, "it writes past its output"),),
        seconds=0.25,
    )


@pytest.fixture
def reports(tmp_path: Path):
    """Write two runs to files and return their paths."""

    def write(before: list[Result], after: list[Result]) -> list[str]:
        paths = [str(tmp_path / name) for name in ("before.jsonl", "after.jsonl")]
        for path, results in zip(paths, (before, after), strict=True):
            write_jsonl(Path(path), Run("lib.so", results, date="2026-06-01"))
        return paths

    return write


def test_a_report_is_read_as_it_was_written(tmp_path: Path) -> None:
    run = Run("lib.so", [result("a/b/c", Status.FAIL, np.inf, "wrong")], "lib.so", 3, 1.5, ("x: missing",), False)
    write_jsonl(tmp_path / "run.jsonl", run)
    again = read_jsonl(tmp_path / "run.jsonl")
    lists = dataclasses.replace(run, problems=["x: missing"], notes=[], absent=[])
    assert repr(again) == repr(lists)  # NaN equals nothing; its name does


def test_evidence_is_read_as_it_was_written(tmp_path: Path) -> None:
    run = judged()
    write_jsonl(tmp_path / "run.jsonl", run)
    again = read_jsonl(tmp_path / "run.jsonl")
    assert [r.evidence for r in again.results] == [r.evidence for r in run.results]
    assert any(r.evidence for r in again.results)


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '{"run": {"version": 2, "cases": 1}}\n{"id": 1}', '{"run": 1}', "\ufeff"]
)
def test_what_is_no_report_is_named(text: str, tmp_path: Path) -> None:
    (tmp_path / "no.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(ReportError, match=r"no\.jsonl: not a report"):
        read_jsonl(tmp_path / "no.jsonl")


def test_diff_names_what_came_to_fail_and_fails_itself(reports, capsys: pytest.CaptureFixture[str]) -> None:
    bad = result("a/b/2", Status.FAIL, 3.0, "1 of 9 elements beyond their limit")
    paths = reports([result("a/b/1", share=0.1), result("a/b/2"), result("a/b/3")], [result("a/b/1", share=0.4), bad])
    assert main(["diff", *paths]) == 1
    out = capsys.readouterr().out
    assert "FAIL a/b/2: 1 of 9 elements beyond their limit" in out
    assert "0.100 -> 0.400  a/b/1" in out
    assert out.splitlines()[-1] == "Worse: 1 newly failing, 1 that passed not judged any more."


def test_diff_of_better_equal_and_other_failures(reports, capsys: pytest.CaptureFixture[str]) -> None:
    bad, other = (result("a/b/2", Status.FAIL, 3.0, reason) for reason in ("wrong", "wrong otherwise"))
    assert main(["diff", *reports([bad], [result("a/b/2"), result("a/b/3")])]) == 0
    assert "Better: 1 newly passing" in capsys.readouterr().out
    assert main(["diff", *reports([bad], [other])]) == 0
    assert "wrong otherwise (was: wrong)" in capsys.readouterr().out
    assert main(["diff", *reports([bad], [bad])]) == 0
    assert "No case changed its status." in capsys.readouterr().out
    assert main(["diff", reports([bad], [bad])[0], "nowhere.jsonl"]) == 2


def test_inspect_shows_tensors_and_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "case.safetensors"
    output = np.array([[1.5, -2.0, np.nan], [0, np.inf, 3]], np.float32)
    safetensors.numpy.save_file({"output": output, "indices": np.arange(4, dtype=np.int32)}, file)
    assert main(["inspect", str(file)]) == 0
    out = capsys.readouterr().out
    assert "2 tensors" in out
    words = next(line for line in out.splitlines() if line.startswith("output")).split()
    assert words == ["output", "F32", "2", "x", "3", "-2", "3", "0.625", "1", "1", "1"]
    assert main(["inspect", str(file), "--tensor", "indices"]) == 0
    assert capsys.readouterr().out == "[0 1 2 3]\n"
    assert main(["inspect", str(file), "--tensor", "weights"]) == 2
    assert "there are indices, output" in capsys.readouterr().err


def test_inspect_of_a_cut_file_names_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "case.safetensors"
    safetensors.numpy.save_file({"output": np.ones(4, np.float32)}, file)
    file.write_bytes(file.read_bytes()[:-4])
    assert main(["inspect", str(file)]) == 2
    assert "case.safetensors" in capsys.readouterr().err
    assert main(["inspect", str(tmp_path / "nowhere")]) == 2
