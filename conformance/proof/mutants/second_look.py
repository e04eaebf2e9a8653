"""What a survivor of the C library is asked besides cases: the memory that it works in, threads, the library's tests.

The judge calls a library in one thread, and sees nothing of memory that the library takes for itself; what a library
does besides operations, steps use and no case looks at.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from conformance.paths import ROOT

GUARDED = "guarded_scratch.c"  # what stands in place of the library's scratch.c, by its name beside this file
REPLACED = "scratch.c"
THREADS = 2
TESTS = ("tests/c/test_services.py", "tests/c/test_no_memory.py")
_LIMIT_S = 120.0


def guarded_source() -> str:
    """Return the text of the working memory that is watched."""
    return Path(__file__).with_name(GUARDED).read_text(encoding="utf-8")


def failed_test(library: Path) -> str:
    """Run the C library's own tests on a build; return the first that fails, or nothing."""
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
