"""A copy of a process whose calls shared their work among threads: it computes on, and so does the first."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

LIMIT = 60  # seconds; the copies take none

# A copy of a copy as well: each has threads of its own.
PROGRAM = """
import os, sys
import numpy as np
from bindings import Library

ops, numbers = Library(sys.argv[1]), np.linspace(-4, 4, 50001, dtype=np.float32)
first = ops.silu(numbers)
threads = lambda: len(os.listdir("/proc/self/task"))
before, deep = threads(), 0
while deep < 3 and not (child := os.fork()):
    deep += 1
    assert (ops.silu(numbers) == first).all()
assert (ops.silu(numbers) == first).all()
if deep < 3:
    assert os.waitpid(child, 0)[1] == 0
print(deep, threads() - before, flush=True)
os._exit(0)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts threads by /proc")
@pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="a sanitiser has threads and locks of its own")
def test_a_copy_of_a_process_with_threads_computes_on(stub_path: Path) -> None:
    given = {**os.environ, "OMP_NUM_THREADS": "3", "OMP_WAIT_POLICY": "passive", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", PROGRAM, str(stub_path)]
    done = subprocess.run(command, env=given, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["3 0", "2 0", "1 0", "0 0"]  # as many threads as before
