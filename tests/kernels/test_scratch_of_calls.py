"""Memory that a call of the kernels' library takes for itself, where the device has no pools: outright.

$ASSAYER_EMULATED names another library that is to be tested.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.proof.faults import build
from conformance.proof.faults.fault import Fault
from tests.tools import CXX, needs

pytestmark = [needs(*CXX), pytest.mark.built]
# Nothing is changed: with it the builder of faulty libraries makes a right one.
SAME = Fault(
    "strided_matmul.cu: as it is", ("matmul_strided",), "strided_matmul.cu", "rows * columns", "columns * rows", ""
)
NO_MEMORY = -3


@pytest.fixture(scope="module")
def library() -> Path:
    return Path(os.environ.get("ASSAYER_EMULATED") or build(SAME))


@pytest.mark.parametrize(
    ("call", "failing", "codes"),
    [
        ("scratch", "", ["0", "0"]),
        ("captured_scratch", "", ["0", "0"]),
        ("scratch", "cudaMemPoolCreate:1", ["0", "0"]),
        ("scratch", "cudaMallocFromPoolAsync:1", [f"{NO_MEMORY}", "0"]),
    ],
)
def test_a_call_has_memory_or_says_why_not(call: str, failing: str, codes: list[str], library: Path) -> None:
    command = [sys.executable, "-m", "tests.kernels.failing_calls", str(library), call]
    environment = {**os.environ, "ASSAYER_EMULATOR_FAIL": failing}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert (done.stdout.split(), done.returncode) == (codes, 0), done.stderr
