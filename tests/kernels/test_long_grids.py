"""More blocks than the second and third direction of a grid can have: every one of them is launched along the first."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bindings import Library
from conformance.proof.faults import build
from conformance.proof.faults.fault import Fault
from tests.tools import CXX, needs

pytestmark = needs(*CXX)
# Nothing is changed: with it the builder of faulty libraries makes a right one, of what these operations need.
_LINE = "inline unsigned blocks_for(int64_t items, int64_t per_block)"
CAPPED = "static_cast<unsigned>(min64(ceil_div(items, per_block), 2147483647))"
OPERATIONS = ("embedding",)
SAME = Fault("launch.cuh: as it is", OPERATIONS, "launch.cuh", _LINE, f"/* as it is */ {_LINE}", "")
SHORT = Fault("launch.cuh: 65,535 blocks", OPERATIONS, "launch.cuh", CAPPED, CAPPED.replace("2147483647", "65535"), "")
BLOCKS, ROWS_EACH = 65_535, 4  # of a grid's second direction; of gather.cuh


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "is_whole"), [(SAME, True), (SHORT, False)], ids=["as it is", "65,535 blocks"])
def test_rows_of_more_blocks_are_gathered(fault: Fault, is_whole: bool) -> None:
    n = BLOCKS * ROWS_EACH + 3
    # Other numbers in each of the two: rows that are not written hold what the memory held, maybe those of the other.
    table = np.arange(1, 8, dtype=np.float32)[:, None] * (1 if is_whole else -1)
    indices = (np.arange(n) % 7).astype(np.int32)
    found = Library(Path(build(fault))).embedding(table, indices)
    right = found[:, 0] == table[indices, 0]
    assert right[: BLOCKS * ROWS_EACH].all()
    assert right.all() == is_whole
