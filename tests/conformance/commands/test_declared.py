"""`run --declarations`: what is declared of what is judged must agree."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from conformance.commands.run import last_failed
from conformance.judging.results import Result, Status
from tests.conformance.commands.small import run, said

RUST = """unsafe extern "C" {
    fn cuda_silu(input: *const f32, output: *mut f32, n: i64, stream: *mut c_void) -> i32;
    fn cuda_add(A, n: i64, stream: *mut c_void) -> i32;
}"""
SWAPPED = RUST.replace("A,", "b: *const f32, a: *const f32, output: *mut f32,")
AGREEING = RUST.replace("A,", "a: *const f32, b: *const f32, output: *mut f32,")


@pytest.fixture
def declarations(tmp_path: Path) -> Path:
    return tmp_path / "ffi.rs"


@pytest.mark.slow
@pytest.mark.parametrize("chosen", [("-k", "add/plain"), ("--case", "add/plain/1"), ("-o", "add"), ("--lf",)])
def test_a_wrong_declaration_of_what_is_judged_fails_however_it_was_chosen(
    right: str, declarations: Path, chosen: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declarations.write_text(SWAPPED)
    last_failed.remember(str(Path(right).resolve()), [Result("add/plain/1", "add", Status.FAIL)])
    reports = {kind: tmp_path / f"run.{kind}" for kind in ("jsonl", "junit", "report", "summary")}
    asked = [word for kind, path in reports.items() for word in (f"--{kind}", str(path))]
    assert run("--library", right, *chosen, "--declarations", str(declarations), *asked) == 1
    difference = "cuda_add: argument 1 is named `b`, the header has `const float* b` as argument 2"
    out = said(capsys)
    assert difference in out
    assert "declarations agree: 0 of 1 operation\n" in out
    head = json.loads(reports["jsonl"].read_text().splitlines()[0])["run"]
    assert head["problems"][0] == difference
    failures = ElementTree.parse(reports["junit"]).getroot().findall("testcase/failure")
    assert failures[0].get("message") == difference
    assert difference in reports["report"].read_text()
    assert "cuda\\_add: argument 1" in reports["summary"].read_text() or difference in reports["summary"].read_text()


def test_agreement_is_said_and_what_differs_elsewhere_is_no_failure(
    right: str, declarations: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declarations.write_text(SWAPPED)
    assert run("--library", right, "-k", "silu/plain", "--declarations", str(declarations)) == 0
    out = said(capsys)
    assert "declarations agree: 1 of 1 operation\n" in out
    assert "declarations that differ, of what is not judged here: cuda_add" in out
    declarations.write_text(AGREEING)
    assert run("--library", right, "-k", "plain/33", "-o", "silu,add", "--declarations", str(declarations)) == 0
    assert "declarations agree: 2 of 2 operations\n" in said(capsys)


def test_a_file_that_declares_nothing_of_what_is_judged_is_an_error(
    right: str, declarations: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declarations.write_text("fn main() {}")
    assert run("--library", right, "-o", "silu", "--declarations", str(declarations)) == 2
    assert "declares none of the header's" in said(capsys)
    declarations.write_text('extern "C" { fn cuda_add(); }')
    assert run("--library", right, "-o", "silu", "--declarations", str(declarations)) == 2
    assert "expected declarations of what is judged (cuda_silu), got cuda_add" in said(capsys)
