"""Compiles small libraries for coverage."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from tests.compiler import compile_library

FOLDER = Path(__file__).parents[2] / "cuda" / "coverage"


def compile_for_coverage(source: str, folder: Path) -> Path:
    """Compile C text, as the head of coverage.c says, to a library that notes which of its code is reached."""
    text = FOLDER.joinpath("coverage.cmake").read_text(encoding="utf-8")
    [flags] = re.findall(r"^set\(COVERAGE_FLAGS (.*)\)$", text, re.MULTILINE)
    assert flags in FOLDER.joinpath("coverage.c").read_text(encoding="utf-8")
    noted = folder / "coverage.o"
    compiler = os.environ.get("CC", "cc")
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    plain = ["-O0"] if "clang" in version else []
    command = [compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", "-fPIC", "-c"]
    subprocess.run([*command, FOLDER / "coverage.c", "-o", noted], check=True)
    return compile_library(source, folder, "covered", *flags.split(), *plain, str(noted))
