"""A compiler that is on the path and does not work counts as missing; one that a variable names is an error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools import cmake_build

SCRIPT = cmake_build.CUDA / "tools" / "compilers.py"
NVCC = "echo 'Cuda compilation tools, release 13.0, V13.0.88'"
CLANG = "echo 'Debian clang version 20.1.7'"
SHIM = "echo 'no such tool is installed' >&2; exit 1"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the whole path; no variable names a compiler."""
    monkeypatch.setenv("PATH", str(tmp_path))
    for variable in ("CUDACXX", "CLANGXX"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


def script(folder: Path, name: str, text: str) -> str:
    tool = folder / name
    tool.write_text(f"#!/bin/sh\n{text}\n")
    tool.chmod(0o755)
    return str(tool)


def asked(name: str) -> tuple[int, str, str]:
    done = subprocess.run([sys.executable, SCRIPT, name], capture_output=True, text=True)
    return done.returncode, done.stdout.strip(), done.stderr.strip()


@pytest.mark.parametrize("name", ["nvcc", "clang++"])
def test_there_is_none(name: str, path: Path) -> None:
    assert asked(name) == (0, "", "")


def test_one_that_works_is_found(path: Path) -> None:
    nvcc, clang = script(path, "nvcc", NVCC), script(path, "clang++-20", CLANG)
    assert [asked(name) for name in ("nvcc", "clang++")] == [(0, nvcc, ""), (0, clang, "")]


def test_a_shim_counts_as_missing_and_a_later_name_is_found(path: Path) -> None:
    script(path, "nvcc", SHIM)
    script(path, "clang++-19", SHIM)
    clang = script(path, "clang++-20", CLANG)
    assert [asked(name) for name in ("nvcc", "clang++")] == [(0, "", ""), (0, clang, "")]


def test_what_the_system_cannot_start_counts_as_missing(path: Path) -> None:
    tool = path / "nvcc"
    tool.write_bytes(b"\x7fELF, and no more")
    tool.chmod(0o755)
    assert asked("nvcc") == (0, "", "")


def test_another_release_is_not_taken(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = script(path, "nvcc", NVCC.replace("13.0", "12.9"))
    assert asked("nvcc") == (0, "", "")
    monkeypatch.setenv("CUDACXX", old)
    assert asked("nvcc") == (0, "", "")


@pytest.mark.parametrize(("name", "variable"), [("nvcc", "CUDACXX"), ("clang++", "CLANGXX")])
def test_a_variable_comes_first_and_must_name_one_that_works(
    name: str, variable: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(path, "nvcc", NVCC)
    script(path, "clang++-19", CLANG)
    mine = script(path, "mine", {"nvcc": NVCC, "clang++": CLANG}[name])
    monkeypatch.setenv(variable, mine)
    assert asked(name) == (0, mine, "")
    shim = script(path, "shim", SHIM)
    monkeypatch.setenv(variable, shim)
    assert asked(name) == (1, "", f"{variable}: expected a compiler that works, got {shim}: its --version fails")
