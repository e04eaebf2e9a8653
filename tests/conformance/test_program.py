"""What usage texts and repeated commands say that was typed."""

from __future__ import annotations

import sys

import pytest

from conformance.commands import cli
from conformance.program import program, run_command


@pytest.mark.parametrize(
    ("started", "typed"),
    [
        ("/somewhere/bin/assayer", "assayer"),
        ("C:\\somewhere\\assayer.exe", "assayer"),
        ("/somewhere/conformance/__main__.py", "python -m conformance"),
    ],
)
def test_the_program_is_called_what_was_typed(
    started: str, typed: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [started.replace("\\", "/"), "run", "--help"])
    monkeypatch.delenv("ASSAYER_SESSION", raising=False)
    assert program() == typed
    assert run_command() == f"{typed} run"
    with pytest.raises(SystemExit):
        cli.main()
    assert capsys.readouterr().out.startswith(f"usage: {typed} run ")


def test_a_session_is_repeated_by_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAYER_SESSION", "nox -s conformance --")
    assert run_command() == "nox -s conformance --"
