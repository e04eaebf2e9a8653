"""Long lists of indices: tiles that are merged, and an index whose rows several teams add up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bindings import Library
from conformance.proof.faults import build
from conformance.proof.faults.fault import Fault
from tests.tools import CXX, needs

pytestmark = [needs(*CXX), pytest.mark.built]
# Nothing is changed: with it the builder of faulty libraries makes a right one, of what these operations need.
_LINE = "int64_t sort_memory(int64_t n)"
SAME = Fault("sort.cu: as it is", ("scatter_add", "expert_sort"), "sort.cu", _LINE, f"/* as it is */ {_LINE}", "")
TILE, MERGED = 2048, 16  # of sort.cu


@pytest.fixture(scope="module")
def path() -> Path:
    return build(SAME)


@pytest.mark.parametrize("n", [TILE, TILE + 1, 3 * TILE - 7, MERGED * TILE, MERGED * TILE + 1])
@pytest.mark.parametrize("rows", [1, 3, 5000])
def test_rows_of_whole_numbers_are_added_exactly(n: int, rows: int, path: Path) -> None:
    random = np.random.default_rng(n + rows)
    indices = random.integers(-1, rows, n).astype(np.int32)
    gradients, table = (random.integers(-9, 10, (count, 5)).astype(np.float32) for count in (n, rows))
    expected = table.copy()
    np.add.at(expected, indices[indices >= 0], gradients[indices >= 0])  # sums stay below 2^24
    np.testing.assert_array_equal(Library(path).scatter_add(gradients, indices, table), expected)


@pytest.mark.parametrize("n_experts", [7, 255, 256, 70_000])
def test_pairs_of_many_tiles_keep_their_order(n_experts: int, path: Path) -> None:
    chosen = np.random.default_rng(n_experts).integers(0, n_experts, (3 * TILE + 5, 1)).astype(np.int32)
    offsets, position = Library(path).expert_sort(chosen, n_experts=n_experts)
    order = np.argsort(chosen[:, 0], kind="stable")
    np.testing.assert_array_equal(position.reshape(-1)[order], np.arange(len(chosen)))
    np.testing.assert_array_equal(offsets, np.searchsorted(chosen[order, 0], np.arange(n_experts + 1)))


@pytest.mark.parametrize(("n", "launches"), [(16, 2), (17, 3), (TILE, 3), (MERGED * TILE, 4), (MERGED * TILE + 1, 5)])
def test_launches_grow_with_the_logarithm_of_the_indices(n: int, launches: int, path: Path) -> None:
    said = _run(path, n, ASSAYER_EMULATOR_LAUNCHES="1").stderr
    assert said.count("launch of kernel") == launches


def test_a_frequent_index_has_the_same_bits_in_every_order_of_threads(path: Path) -> None:
    orders = ({"SCHEDULE": "forward"}, {"SCHEDULE": "reverse"}, *({"SCHEDULE": "random", "SEED": s} for s in "12"))
    bits = {_run(path, 5000, **{f"ASSAYER_EMULATOR_{k}": v for k, v in order.items()}).stdout for order in orders}
    assert len(bits) == 1


_CALL = """
import sys
import numpy as np
from bindings import Library
path, n = sys.argv[1], int(sys.argv[2])
random = np.random.default_rng(1)
gradients, table = random.standard_normal((n, 5)).astype(np.float32), np.zeros((2, 5), np.float32)
print(Library(path).scatter_add(gradients, (random.random(n) < 0.01).astype(np.int32), table).tobytes().hex())
"""


def _run(path: Path, n: int, **environment: str) -> subprocess.CompletedProcess[str]:
    """Add n rows up, of which 99 in 100 have one index, in a process of its own: a library reads its settings once."""
    command = [sys.executable, "-c", _CALL, str(path), str(n)]
    return subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **environment})
