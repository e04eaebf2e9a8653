"""Builds the emulator's test programs and runs them by name."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.tools import CXX, build_with_cmake, works

ROOT = Path(__file__).parents[2]
SOURCES = Path(__file__).parent / "programs"
QUIET = {"ASAN_OPTIONS": "detect_leaks=0", "TSAN_OPTIONS": "exitcode=66 history_size=0 atexit_sleep_ms=0"}
SANITIZERS = {"fast": "", "address": "address,undefined", "thread": "thread"}


@dataclass(frozen=True)
class Outcome:
    """What a run of some programs said."""

    status: int
    lines: list[str]  # "NAME ok|wrong ERROR" of each
    said: str  # on stderr

    def error_of(self, program: str) -> str:
        """The name of the CUDA error that the program left behind."""
        (line,) = (line for line in self.lines if line.startswith(f"{program} "))
        return line.split()[2]


class Programs:
    """The programs, compiled in one mode."""

    def __init__(self, mode: str) -> None:
        compiler = os.environ.get("CXX")  # a folder of its own: CMake keeps to the compiler it began with
        folder = ROOT / "build" / "emulator-tests" / (f"{mode}-{Path(compiler).name}" if compiler else mode)
        build_with_cmake(folder, "programs", SOURCES.parent, MODE=mode)
        version = subprocess.run([*CXX, "--version"], capture_output=True, text=True)
        self.by_clang = "clang" in version.stdout
        self._command = [*without_random_addresses(), str(folder / "programs")]

    def run(self, *names: str, **settings: str | int) -> Outcome:
        """Run the programs in one process; settings are the emulator's, by the end of their names (schedule, seed)."""
        named = {f"ASSAYER_EMULATOR_{name.upper()}": str(value) for name, value in settings.items()}
        quiet = {name: f"{value} {os.environ.get(name, '')}" for name, value in QUIET.items()}
        done = subprocess.run(
            [*self._command, *names], capture_output=True, text=True, timeout=120, env={**os.environ, **quiet, **named}
        )
        return Outcome(done.returncode, done.stdout.splitlines(), done.stderr)


def without_random_addresses() -> list[str]:
    """The race detector of older compilers does not know the address layouts of newer kernels."""
    setarch = shutil.which("setarch")
    return [setarch, "-R"] if setarch else []


def skip_without(mode: str, folder: Path) -> None:
    """Skip the test where the compiler cannot build programs of the mode, or such programs do not start."""
    if not works(*CXX):
        pytest.skip("no C++ compiler")
    source, program = folder / "empty.cpp", folder / "empty"
    source.write_text("int main() {}\n")
    flags = [f"-fsanitize={SANITIZERS[mode]}"] if SANITIZERS[mode] else []
    if subprocess.run([*CXX, *flags, "-o", program, source], capture_output=True).returncode != 0:
        pytest.skip(f"{CXX[0]} cannot link {flags}")
    if subprocess.run([*without_random_addresses(), program], capture_output=True).returncode != 0:
        pytest.skip(f"programs built with {flags} do not start on this machine")


def names_in(source: str) -> list[str]:
    """The programs of one source file."""
    return re.findall(r"^PROGRAM\((\w+)\)", (SOURCES / source).read_text(), re.MULTILINE)


def marked(source: str, mark: str) -> list[str]:
    """`programs/source:line` of every line with the comment."""
    lines = (SOURCES / source).read_text().splitlines()
    found = [f"programs/{source}:{number}" for number, line in enumerate(lines, 1) if f"// {mark}" in line]
    assert found, f"nothing in {source} is marked {mark}"
    return found
