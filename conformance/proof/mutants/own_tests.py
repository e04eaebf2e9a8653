"""A library's own tests of what no case looks at, run on a build: services, and of C memory, crowds and first calls."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from conformance.paths import ROOT


class Tests(NamedTuple):
    """Files, what a report calls them, and the variable by which they are told of a library."""

    name: str
    files: Sequence[str]
    variable: str


_OF_C = ("test_services", "test_no_memory", "test_scratch", "test_crowd", "test_first_calls")
C = Tests("tests/c", [f"tests/c/{name}.py" for name in _OF_C], "ASSAYER_STUB")
KERNELS = Tests("tests/kernels", ["tests/kernels/test_services.py"], "ASSAYER_EMULATED")
_LIMIT_S = 120.0


def texts() -> list[str]:
    """Return the texts of the tests; an installed package has none."""
    files = (ROOT / file for file in (*C.files, *KERNELS.files))
    return [file.read_text(encoding="utf-8") for file in files if file.exists()]


def failed(tests: Tests, library: Path) -> str:
    """Run tests on a library; return the first that fails, or nothing, as where there are no tests."""
    if not texts():
        return ""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests.files]
    environment = {**os.environ, tests.variable: str(library), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=_LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return f"no end in {_LIMIT_S:g} s"
    if not done.returncode:
        return ""
    told = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    return (told or [f"exit code {done.returncode}"])[0][:200]
