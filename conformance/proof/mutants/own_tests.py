"""The C library's tests of what no case looks at, run on a build: services, calls without memory, crowds of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from conformance.paths import ROOT

FOLDER = "tests/c"
TESTS = tuple(f"{FOLDER}/{name}.py" for name in ("test_services", "test_no_memory", "test_crowd"))
_LIMIT_S = 120.0


def texts() -> list[str]:
    """Return the texts of the tests; an installed package has none."""
    return [(ROOT / test).read_text(encoding="utf-8") for test in TESTS if (ROOT / test).exists()]


def failed(library: Path) -> str:
    """Run the tests on a library; return the first that fails, or nothing, as where there are no tests."""
    if not texts():
        return ""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *TESTS]
    environment = {**os.environ, "ASSAYER_STUB": str(library), "PYTHONDONTWRITEBYTECODE": "1"}
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
