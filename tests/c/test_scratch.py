"""The working memory that calls leave for those that follow: how much, by how many at once, and until when."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.c.memory import needs_preloading, run_with_memory

pytestmark = needs_preloading

# The scores of so many heads are products that take 270 MB to describe; the arrays are a twentieth of that.
LARGE = """
import sys
import numpy as np
from bindings import Library
from bindings.shared_object.foreign import of_process

megabytes = of_process("megabytes_held", [])
ops, heads = Library(sys.argv[1]), 2_900_000
Q, K = np.arange(heads, dtype=np.float32).reshape(1, 1, heads, 1), np.full((1, 1, 1), 0.5, np.float32)
for _ in range(3):
    scores = ops.attention_scores(Q, K, scale=2.0)
    print(megabytes(), (scores.ravel() == Q.ravel()).all())
few = ops.attention_scores(Q[:, :, :3], K, scale=2.0)
print(megabytes(), (few.ravel() == Q.ravel()[:3]).all())
"""


@pytest.mark.slow
def test_a_large_block_is_given_back_and_taken_anew(stub_path: Path, tmp_path: Path) -> None:
    lines = run_with_memory(LARGE, stub_path, tmp_path)
    assert len(lines) == 4
    for line in lines:
        megabytes, right = line.split()
        assert int(megabytes) < 256
        assert right == "True"


# Each call takes one block, and none goes on before all have one; then a second round, which finds what the first left.
CROWD = """
import os, sys, threading, time
from pathlib import Path
import numpy as np
from bindings import read_header
from bindings.shared_object.foreign import SharedObject, from_buffer, of_process, pointer

held, meet = of_process("blocks_held", []), of_process("meet", ["int32_t"])
library, function = SharedObject(Path(sys.argv[1])), read_header().operations["rope_forward"]
rope = library.entry(function.symbol, function.types)
freqs, threads, wrong = np.zeros(4, np.float32), 24, []

def call(i):
    x, y = np.full(8, i, np.float32), np.zeros(8, np.float32)
    code = rope(from_buffer(x), from_buffer(freqs), from_buffer(y), 1, 1, 1, 8, 0, pointer(0))
    if code or (x != y).any():
        wrong.append(i)

def crowd():
    calls = [threading.Thread(target=call, args=[i]) for i in range(threads)]
    for each in calls:
        each.start()
    for each in calls:
        each.join()

meet(threads)
crowd()
print(held(), *wrong)
crowd()
print(held(), *wrong)
while len(os.listdir("/proc/self/task")) > 1:  # joined is not ended: the runtime of OpenMP has a last word in each
    time.sleep(0.001)
library.close()
print(held())
"""


def test_what_a_crowd_of_calls_leaves_is_used_again_and_given_back_at_the_end(stub_path: Path, tmp_path: Path) -> None:
    first, second, end = run_with_memory(CROWD, stub_path, tmp_path)
    assert 0 < int(first) < 24  # those that found all blocks taken have given back their own
    assert second == first
    assert end == "0"
