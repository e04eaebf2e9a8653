"""The command `run`, straight through: a small library, its worker, the verdicts, reports and exit codes."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from conformance.cli import main

SILU = """
#include <math.h>
#include <stdint.h>
int32_t cuda_silu(const float* input, float* output, int64_t n, void* stream) {
    if (!input || !output || n < 1 || n > INT64_MAX / 4) return -2;
    for (int64_t i = 0; i < n; i++) output[i] = BODY;
    return 0;
}
"""


@pytest.fixture
def library(tmp_path: Path):
    """Compile a library that holds cuda_silu alone, with the given expression in its loop."""

    def build(body: str) -> str:
        source, built = tmp_path / "silu.c", tmp_path / "libsilu.so"
        source.write_text(SILU.replace("BODY", body))
        command = [os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", str(source), "-o", str(built), "-lm"]
        subprocess.run(command, check=True)
        return str(built)

    return build


RIGHT = "(float)(input[i] / (1.0 + exp(-(double)input[i])))"
WRONG = "(float)(input[i] / (1.0 + exp(-1.001 * (double)input[i])))"


def run(*arguments: str) -> int:
    return main(["run", "-n", "1", *arguments])


def test_a_right_operation_passes(library, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--library", library(RIGHT), "-k", "silu/") == 0
    out = capsys.readouterr().out
    assert "PASS" in out
    assert "a second" in out
    assert "cuda_gemm: missing" in out


def test_a_wrong_one_fails_with_place_numbers_and_the_command_to_repeat_it(library, capsys) -> None:
    assert run("--library", library(WRONG), "-k", "silu/plain") == 1
    out = capsys.readouterr().out
    assert "beyond their limit" in out
    assert "worst at [" in out
    assert "repeat: nox -s conformance -- --case 'silu/" in " ".join(out.split())


def test_one_case_can_be_repeated(library, capsys) -> None:
    assert run("--library", library(WRONG), "--case", "silu/plain/33") == 1
    assert "1 cases in" in capsys.readouterr().out


def test_a_crash_is_a_verdict_and_the_run_goes_on(library, capsys) -> None:
    assert run("--library", library("n == 33 ? input[1 << 30] : " + RIGHT), "-k", "silu/plain") == 1
    out = capsys.readouterr().out
    assert "1 CRASHED" in out
    assert "PASS" in out


def test_a_missing_operation_is_not_run_and_not_passed(library, capsys) -> None:
    assert run("--library", library(RIGHT), "-k", "swiglu/plain") == 1
    assert "NOT RUN" in capsys.readouterr().out


def test_the_whole_of_an_incomplete_library_never_passes(library, monkeypatch: pytest.MonkeyPatch) -> None:
    from conformance import cli
    from conformance.selection import Selection

    monkeypatch.setattr(cli, "select", lambda *_: Selection(("silu/plain/33",), (), (), ()))
    assert run("--library", library(RIGHT)) == 1


def test_stop_at_the_first_failure(library, capsys) -> None:
    assert run("--library", library(WRONG), "-k", "silu/plain", "-x") == 1
    assert "1 FAIL" in capsys.readouterr().out


def test_nothing_chosen_is_a_failure_of_the_run(library, capsys) -> None:
    assert run("--library", library(RIGHT), "-k", "no such words") == 2
    assert "no case matches" in capsys.readouterr().out
    assert run("--library", library(RIGHT), "--case", "silu/plain/nowhere") == 2


def test_a_file_that_is_no_library_is_named(tmp_path: Path, capsys) -> None:
    text = tmp_path / "library.so"
    text.write_text("not a library")
    assert run("--library", str(text)) == 2
    assert "library.so" in capsys.readouterr().out


def test_reports_for_machines(library, tmp_path: Path) -> None:
    lines, junit = tmp_path / "run.jsonl", tmp_path / "run.xml"
    run("--library", library(WRONG), "-k", "silu/", "--jsonl", str(lines), "--junit", str(junit))
    head, *cases = [json.loads(line) for line in lines.read_text().splitlines()]
    assert head["run"]["seed"] == 0
    assert {case["status"] for case in cases} == {"PASS", "FAIL"}
    suite = ElementTree.parse(junit).getroot()
    assert int(suite.get("tests", "0")) == len(cases)
    assert int(suite.get("failures", "0")) == sum(case["status"] == "FAIL" for case in cases)


def test_list_prints_ids(capsys) -> None:
    assert main(["list", "-k", "silu late"]) == 2
    assert main(["list", "-k", "softmax/late"]) == 0
    assert "softmax/late/maximum_in_last_column_2x8193" in capsys.readouterr().out.split()
