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


SHOWN = """
import os, sys
from bindings import Library

before = dict(os.environ)
ops = Library(sys.argv[1])
assert dict(os.environ) == before
"""


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ({}, "GOMP_SPINCOUNT = '2000'"),
        ({"OMP_WAIT_POLICY": "active"}, "OMP_WAIT_POLICY = 'ACTIVE'"),
        ({"OMP_WAIT_POLICY": "passive"}, "GOMP_SPINCOUNT = '0'"),
        ({"GOMP_SPINCOUNT": "77"}, "GOMP_SPINCOUNT = '77'"),
    ],
    ids=["untold", "active", "passive", "count"],
)
def test_threads_spin_briefly_unless_the_user_says_how_long(stub_path: Path, told: dict[str, str], shown: str) -> None:
    given = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_"))}
    given |= {"OMP_NUM_THREADS": "2", "OMP_DISPLAY_ENV": "verbose", **told}
    command = [sys.executable, "-c", SHOWN, str(stub_path)]
    done = subprocess.run(command, env=given, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    if "GOMP_" not in done.stderr:
        pytest.skip("the library's threads are not of GCC's OpenMP")
    assert shown in done.stderr


@pytest.mark.parametrize("time", range(3))  # what is unloaded too early is not run every time
def test_a_process_ends_well_while_threads_of_its_library_spin(stub_path: Path, time: int) -> None:
    given = {**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "active"}
    command = [sys.executable, "-c", PROGRAM, str(stub_path)]
    done = subprocess.run(command, env=given, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
