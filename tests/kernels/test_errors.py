"""An error is returned by the call that met it, and by no other.

$ASSAYER_EMULATED names another library that is to be tested.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from conformance.proof.faults import build
from conformance.proof.faults.fault import Fault
from tests.tools import CXX, needs

# A change that changes nothing: with it the builder of faulty libraries makes a right one, of what `silu` needs.
SAME = Fault("elementwise.cu: as it is", ("silu",), "elementwise.cu", "x[0] + x[1]", "x[1] + x[0]", "")


@needs(*CXX)
def test_a_runtime_error_is_not_said_again_by_the_next_launch() -> None:
    library = ctypes.CDLL(str(build(SAME)))
    x, y = np.zeros(8, np.float32), np.ones(8, np.float32)
    inside = ctypes.c_void_p(x.ctypes.data + 4)  # nothing that was allocated begins there
    assert library.assayer_free(inside) > 0
    addresses = ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data)
    assert library.cuda_silu(*addresses, ctypes.c_int64(8), None) == 0
    assert not y.any()


UNKNOWN, UNSUPPORTED = 999, -4


@pytest.mark.parametrize(
    ("call", "failing", "code"),
    [
        ("product", "cudaFuncSetAttribute", UNKNOWN),
        ("product", "cudaFuncGetAttributes", 0),  # whether there are matrix units is not known: it is computed without
        ("captured", "cudaGraphInstantiate", UNKNOWN),
        ("captured", "cudaGraphDestroy", UNKNOWN),
        ("captured", "cudaMemPoolTrimTo", 0),  # what the pool keeps is used by the next call
    ],
)
def test_a_call_that_fails_is_said_once_and_leaves_nothing_behind(
    call: str, failing: str, code: int, tested_path: Path
) -> None:
    done = _calls(tested_path, call, failing)
    assert (done.stdout.split(), done.returncode) == ([str(code), "0", "0"], 0), done.stderr


@pytest.mark.parametrize("failing", ["cudaMemPoolCreate", "cudaMemPoolSetAttribute"])
def test_without_a_pool_that_keeps_its_memory_nothing_is_captured(failing: str, tested_path: Path) -> None:
    """A graph's calls could not take memory for themselves; nor can they later, since a pool is made once."""
    done = _calls(tested_path, "begun", failing)
    assert (done.stdout.split(), done.returncode) == ([str(UNSUPPORTED), "0", str(UNSUPPORTED)], 0), done.stderr


def _calls(library: Path, call: str, failing: str) -> subprocess.CompletedProcess[str]:
    """What failing_calls prints of a call during which the runtime fails once."""
    command = [sys.executable, "-m", "tests.kernels.failing_calls", str(library), call]
    environment = {**os.environ, "ASSAYER_EMULATOR_FAIL": f"{failing}:1"}
    return subprocess.run(command, capture_output=True, text=True, env=environment)
