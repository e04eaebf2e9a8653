"""`faults`: what it prints and returns, alone and with several faults in one library."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.catalogue.keywords import Keywords
from conformance.commands import faults as command
from conformance.commands.cli import main
from conformance.commands.run import command as judging
from conformance.proof.faults import FAULTS, FaultError, build
from conformance.proof.faults.table import together


@pytest.mark.slow
def test_a_fault_that_is_found_and_named_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["faults", "-k", "'clip_scale: always scaled'", "-n", "1", "-v"]) == 0
    out = capsys.readouterr().out
    assert "named      clip_scale: always scaled: matches: always scaled" in out
    assert "1 of 1 faults found; 1 named or described rightly by the first line" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-k", "nothing-like-it"], "no fault matches -k 'nothing-like-it'"),
        (["--together", "99"], "expected at most 11 faults to go together, got 99"),
        (["--report", "page.html"], "--report, --summary and --jsonl go with --together N"),
    ],
)
def test_what_cannot_be_done_is_said(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["faults", *arguments]) == 2
    assert said in capsys.readouterr().out


def test_a_fault_that_is_not_found_or_not_named_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for found, right, told in ((False, False, "NOT FOUND"), (True, False, "NOT NAMED")):
        result = command.FaultResult("some fault", found, right, "a line")
        monkeypatch.setattr(command, "judge", lambda n, faults, result=result: [result])
        assert main(["faults", "-k", "rope"]) == 1
        assert f"{told:<10} some fault: a line" in capsys.readouterr().out


def test_a_fault_that_is_known_to_be_said_otherwise_says_why_and_fails_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known = command.FaultResult("some fault", True, False, "a line", "its border alone is said")
    monkeypatch.setattr(command, "judge", lambda n, faults: [known])
    assert main(["faults", "-k", "rope"]) == 0
    out = capsys.readouterr().out
    assert "NOT NAMED  some fault: a line (known: its border alone is said)" in out
    assert "1 of 1 faults found; 0 named or described rightly by the first line, 1 known not to be" in out
    monkeypatch.setattr(command, "judge", lambda n, faults: [known, replace(known, unnamed="")])
    assert main(["faults", "-k", "rope"]) == 1


def test_several_faults_in_one_library_are_judged_as_run_does_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = judging.run

    def some(options: argparse.Namespace) -> int:
        options.k = Keywords("silu/plain/257 or softmax/beyond/overflow_before_the_maximum_2x1030")
        return whole(options)

    monkeypatch.setattr(judging, "run", some)
    assert main(["faults", "--together", "2", "-n", "1", "--summary", str(tmp_path / "comment.md")]) == 0
    out = capsys.readouterr().out
    assert "the C library with 2 faults does not conform" in out
    assert "named      silu: one element past the end written: wrote past the end of output (4 bytes)" in out
    assert "named      softmax: maximum of the first block: matches: " in out
    assert "wrote past the end" in (tmp_path / "comment.md").read_text()


def test_all_that_go_together_are_of_different_operations() -> None:
    chosen = together(11)
    operations = [name for fault in chosen for name in fault.operations]
    assert len(set(operations)) == len(operations)
    assert set(chosen) <= set(FAULTS)
    assert build(*chosen).is_file()
    with pytest.raises(FaultError, match="at most 11"):
        together(12)
