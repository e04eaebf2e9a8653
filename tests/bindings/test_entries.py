"""An entry can be called for as long as somebody holds it, and its code is there for as long as anything may run it."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bindings.shared_object.foreign import SharedObject
from tests.compiler import compile_library
from tests.conftest import ROOT


def test_an_entry_outlives_what_opened_its_library(tmp_path: Path) -> None:
    path = compile_library("#include <stdint.h>\nint32_t seven(void) { return 7; }\n", tmp_path)
    entry = SharedObject(path).entry("seven", ())
    gc.collect()
    assert entry is not None
    assert entry() == 7


PROGRAM = """
import sys
import numpy as np
from bindings import Library

numbers = np.zeros(1 << 20, np.float32)
ops = Library(sys.argv[1])
for _ in range(5):
    ops.add(numbers, numbers)
"""


@pytest.mark.parametrize("time", range(3))  # what is unloaded too early is not run every time
def test_a_process_ends_well_while_threads_of_its_library_spin(stub_path: Path, time: int) -> None:
    given = {**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "active"}
    command = [sys.executable, "-c", PROGRAM, str(stub_path)]
    done = subprocess.run(command, env=given, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
