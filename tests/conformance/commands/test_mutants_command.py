"""`mutants`: what it prints and returns."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.commands import mutants as command
from conformance.commands.cli import main
from conformance.proof.mutants import Mutant, MutatorError, sample
from conformance.proof.mutants.library import Library
from conformance.proof.mutants.record import Trial, Verdict

MADE = [Mutant("clip.c", line, "+ ==> -", "x = a + b;", "x = a - b;") for line in range(20, 30)]


@pytest.fixture(autouse=True)
def made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten mutants, of which the one of line 25 survives; nothing is built."""

    def trial(mutant: Mutant) -> Trial:
        verdict = Verdict.SURVIVED if mutant.line == 25 else Verdict.KILLED
        return Trial(mutant, verdict, "grad_clip/plain/1", "7 cases", str(mutant.line))

    monkeypatch.setattr(Library, "mutants", lambda library: MADE)
    monkeypatch.setattr(command, "read", lambda: command.Equivalents([]))
    monkeypatch.setattr(sample, "_begin", lambda *given: None)
    monkeypatch.setattr(sample, "_trial", trial)


def run(tmp_path: Path, *words: str) -> int:
    return main(["mutants", "-n", "1", "--log", str(tmp_path / "log.jsonl"), *words])


def test_a_survivor_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path) == 1
    out = capsys.readouterr().out
    assert "10 of 10 mutants of cuda/src, in the order of seed 0" in out
    assert "SURVIVES cuda/src/clip.c:25: x = a - b;\n    in place of x = a + b;; 7 cases" in out
    assert "9 of 10 mutants killed (90.0%)" in out


@pytest.mark.slow
def test_what_is_killed_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seed = next(seed for seed in range(9) if 25 not in [one.line for one in sample.Sample(seed, 5).drawn(MADE)])
    assert run(tmp_path, "--count", "5", "--seed", str(seed), "-v") == 0
    out = capsys.readouterr().out
    assert out.count("KILLED   cuda/src/clip.c:") == 5
    assert "5 of 5 mutants killed (100.0%)" in out


@pytest.mark.slow
def test_a_second_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, "--minutes", "0") == 0
    assert "1 of 1 mutants killed" in capsys.readouterr().out
    tried: list[Mutant] = []

    def trial(mutant: Mutant) -> Trial:
        tried.append(mutant)
        return Trial(mutant, Verdict.KILLED, code=str(mutant.line))

    monkeypatch.setattr(sample, "_trial", trial)
    assert run(tmp_path) == 0
    assert len(tried) == 9


@pytest.mark.slow
@pytest.mark.parametrize("verdict", [Verdict.REFUSED, Verdict.SAME])
def test_nothing_that_counts_is_no_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], verdict: Verdict
) -> None:
    monkeypatch.setattr(sample, "_trial", lambda mutant: Trial(mutant, verdict))
    assert run(tmp_path) == 2
    assert "0 of 0 mutants killed; not counted: " in capsys.readouterr().out


def test_what_survived_is_tried_again_where_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path) == 1
    tried: list[int] = []

    def trial(mutant: Mutant) -> Trial:
        tried.append(mutant.line)
        return Trial(mutant, Verdict.KILLED, code=str(mutant.line))

    monkeypatch.setattr(sample, "_trial", trial)
    assert run(tmp_path) == 1
    assert tried == []
    assert run(tmp_path, "--again", "--seconds", "60") == 0
    assert tried == [25]
    assert "10 of 10 mutants killed (100.0%)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"), [("--brief", "--brief leaves them out"), ("--reference", "--reference has none")]
)
def test_time_for_second_looks_is_of_runs_that_have_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: str, said: str
) -> None:
    assert run(tmp_path, words, "--seconds", "60") == 2
    expected = f"--seconds 60 is of second looks: expected a run that has them, {said}"
    assert " ".join(capsys.readouterr().out.split()) == expected


def test_no_mutant_is_no_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, "-k", "nothing-like-it") == 2
    assert "0 of 10 mutants" in capsys.readouterr().out


def test_a_mutator_that_is_missing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(library: Library) -> list[Mutant]:
        raise MutatorError("expected the package universalmutator")

    monkeypatch.setattr(Library, "mutants", missing)
    assert run(tmp_path) == 2
    assert capsys.readouterr().out == "expected the package universalmutator\n"


def test_a_file_that_is_no_log_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "log.jsonl").write_text("notes\n")
    assert run(tmp_path) == 2
    assert "log.jsonl:1: expected a trial of a mutant" in capsys.readouterr().out
