"""Runs a program in which memory.c stands before the system's malloc."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compiler import compile_library
from tests.conftest import ROOT

needs_preloading = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="malloc is replaced by LD_PRELOAD"),
    pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="a sanitiser's malloc is in its place"),
]


def run_with_memory(program: str, library: Path, folder: Path) -> list[str]:
    """Run Python text with a library's path as its argument, each call in one thread; return the lines it prints.

    The program calls memory.c's functions by `of_process`.  folder: where that is compiled.
    """
    source = Path(__file__).with_name("memory.c").read_text(encoding="utf-8")
    shim = compile_library(source, folder, "memory", "-ldl")
    given = {**os.environ, "LD_PRELOAD": str(shim), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program, str(library)], env=given, cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
