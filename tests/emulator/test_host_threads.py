"""Threads of the host that launch kernels and end: what they leave is used by the next."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path

import numpy as np

from bindings import Library

ROW = np.ones((1, 1025), np.float32)  # one block, whose threads wait for each other: no other system thread takes part


def mappings() -> int:
    return len(Path("/proc/self/maps").read_bytes().splitlines())


def test_a_thread_takes_the_stacks_of_one_that_has_ended(emulated_path: Path) -> None:
    library, counts = Library(emulated_path), []
    for _ in range(8):
        thread = threading.Thread(target=library.softmax, args=(ROW,))
        thread.start()
        thread.join()
        counts.append(mappings())
    grown = [after - before > 64 for before, after in itertools.pairwise(counts)]  # hundreds, where stacks are new
    assert sum(grown) <= 2, counts  # a thread may be joined a moment before it gives its stacks back
