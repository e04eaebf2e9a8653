"""Commands that load a sanitised library: the sanitiser is there from the start."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.emulator.programs import ROOT, skip_without

PRELOAD = ROOT / "cuda" / "emulator" / "preload.py"
NAMES = ("LD_PRELOAD", "ASAN_OPTIONS", "TSAN_OPTIONS", "ASSAYER_PRELOAD")
SHOW = f"import os; print(*(os.environ[name] for name in {NAMES}))"


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, PRELOAD, *words]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})


@pytest.mark.parametrize(("mode", "library"), [("address", "asan"), ("thread", "tsan")])
def test_the_command_runs_with_the_sanitiser_and_its_options(
    mode: str, library: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    skip_without(mode, tmp_path_factory.mktemp(mode))
    done = run(mode, sys.executable, "-c", SHOW, ASAN_OPTIONS="verbosity=0", TSAN_OPTIONS="halt_on_error=0")
    assert (done.returncode, done.stderr) == (0, "")
    preloaded, address, thread, said = done.stdout.split()
    assert said == mode
    assert library in preloaded
    assert address.endswith(":verbosity=0")
    assert thread.endswith(":halt_on_error=0")  # what comes last holds


def test_a_status_is_handed_on() -> None:
    assert run("address", sys.executable, "-c", "raise SystemExit(7)").returncode == 7


@pytest.mark.parametrize("words", [[], ["address"], ["fast", "true"]])
def test_what_it_does_not_understand_is_refused(words: list[str]) -> None:
    done = run(*words)
    assert done.returncode == 1
    assert "preload.py MODE COMMAND" in done.stderr


def test_a_compiler_without_sanitisers_is_told() -> None:
    done = run("thread", "true", CXX="echo")
    assert done.returncode == 1
    assert done.stderr == "echo has no shared library of the thread sanitiser; set CXX to one that has\n"
