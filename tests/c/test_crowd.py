"""More calls at once than the library keeps blocks of working memory for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

# Each call holds two blocks; the arrays are so long that most threads are within one at any time.
PROGRAM = """
import sys, threading
import numpy as np
from bindings import Library

ops = Library(sys.argv[1])
arrays = [[np.full(200_003, 1 + i, np.float32)] for i in range(24)]
alone = [ops.multi_sum_squares(one) for one in arrays]
start, wrong = threading.Barrier(len(arrays)), []

def many(i):
    start.wait()
    for _ in range(10):
        if ops.multi_sum_squares(arrays[i]) != alone[i]:
            wrong.append(i)

threads = [threading.Thread(target=many, args=[i]) for i in range(len(arrays))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not wrong, wrong
"""


def test_calls_that_find_no_block_take_memory_of_their_own(stub_path: Path) -> None:
    given = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", PROGRAM, str(stub_path)]
    done = subprocess.run(command, env=given, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
