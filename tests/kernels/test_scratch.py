"""Scratch memory: what fails in getting it is said once, a caller's capture survives it, and it is handed back."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.tools import CXX, build_with_cmake, needs

pytestmark = [needs(*CXX), pytest.mark.built]
NO_MEMORY, UNSUPPORTED, CAPTURE_UNSUPPORTED = -3, -4, 900


@pytest.fixture(scope="module")
def program() -> Path:
    here = Path(__file__).parent
    return build_with_cmake(here.parents[1] / "build" / "kernel-tests", "scratch", here) / "scratch"


def said(program: Path, what: str, failing: str = "") -> tuple[int, int]:
    """Return the code of what is tried, and that of a launch that would come next."""
    environment = {**os.environ, "ASSAYER_EMULATOR_FAIL": failing}
    done = subprocess.run([program, what], capture_output=True, text=True, env=environment, check=True)
    code, next_launch = done.stdout.split()
    return int(code), int(next_launch)


@pytest.mark.parametrize("what", ["used", "captured", "trimmed", "asked"])
def test_nothing_fails(what: str, program: Path) -> None:
    assert said(program, what) == (0, 0)


@pytest.mark.parametrize(
    ("what", "failing", "code"),
    [
        ("asked", "cudaGetDevice", UNSUPPORTED),
        ("asked", "cudaDeviceGetAttribute", UNSUPPORTED),
        # Without a pool, memory is taken outright.
        ("used", "cudaGetDevice", 0),
        ("used", "cudaDeviceGetAttribute", 0),
        ("used", "cudaMemPoolCreate", 0),
        ("used", "cudaMemPoolSetAttribute", 0),
        ("used", "cudaMallocFromPoolAsync", NO_MEMORY),
        ("used", "cudaFreeAsync", 0),
        # Memory taken outright would be free before the graph runs.
        ("captured", "cudaMemPoolCreate", CAPTURE_UNSUPPORTED),
    ],
)
def test_a_failure_is_said_once_or_answered(what: str, failing: str, code: int, program: Path) -> None:
    assert said(program, what, failing) == (code, 0)
