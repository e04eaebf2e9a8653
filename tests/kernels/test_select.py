"""The search of samplers: it ends inside the row, whatever it looks for, and masses of 64 bits add up."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.tools import CXX, build_with_cmake, needs

pytestmark = needs(*CXX)
SIZE, THREADS, BINS = 100, 256, 2048


@pytest.fixture(scope="module")
def program() -> Path:
    here = Path(__file__).parent
    return build_with_cmake(here.parents[1] / "build" / "kernel-tests", "select", here) / "select"


def said(program: Path, threshold: int, weight: int = 1, schedule: str = "forward") -> list[int]:
    environment = {**os.environ, "ASSAYER_EMULATOR_SCHEDULE": schedule}
    command = [program, str(threshold), str(weight)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True, timeout=60)
    return [int(word) for word in done.stdout.split()]


@pytest.mark.parametrize("threshold", [0, 31, 32, SIZE - 1])
def test_what_is_there_is_found(threshold: int, program: Path) -> None:
    assert said(program, threshold)[:3] == [threshold, 1, threshold]


@pytest.mark.parametrize("threshold", [SIZE, 2**62])
@pytest.mark.parametrize("schedule", ["forward", "reverse"])
def test_what_is_not_there_ends_at_the_last(threshold: int, schedule: str, program: Path) -> None:
    assert said(program, threshold, schedule=schedule)[:3] == [BINS - 1, 1, SIZE - 1]


@pytest.mark.parametrize("weight", [1, 2**32 - 1, 2**31 + 12345, 2**53 + 987654321])
@pytest.mark.parametrize("schedule", ["forward", "random"])
def test_masses_carry(weight: int, schedule: str, program: Path) -> None:
    assert said(program, 0, weight, schedule)[3] == THREADS * weight
