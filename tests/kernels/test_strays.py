"""An index that is no expert's shows in the loss that balances experts, wherever among many tokens it stands."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bindings import read_header
from bindings.shared_object.foreign import SharedObject, pointer
from conformance.proof.faults import build
from conformance.proof.faults.fault import Fault
from tests.tools import CXX, needs

pytestmark = needs(*CXX)
# Nothing is changed: with it the builder of faulty libraries makes a right one, of what this operation needs.
_LINE = "int strays = 0;\n    for (int tile"
SAME = Fault("aux_loss.cu: as it is", ("aux_loss_forward",), "aux_loss.cu", _LINE, f"/* as it is */ {_LINE}", "")
TOKENS, THREADS = 512, 256  # of a tile, and threads that add up what tiles have found: of aux_loss.cu
COUNT = TOKENS * THREADS + 1  # one tile more than these threads


@pytest.fixture(scope="module")
def library() -> SharedObject:
    return SharedObject(Path(build(SAME)))


def balanced(library: SharedObject, chosen: np.ndarray) -> list[np.ndarray]:
    """The loss, counts and means of two experts; straight through C, as bindings refuse such an index."""
    operation = read_header().operations["aux_loss_forward"]
    entry = library.entry(operation.symbol, operation.types)
    given = [np.full((COUNT, 2), 0.5, np.float32), chosen]
    outputs = [np.zeros(size, np.float32) for size in (1, 2, 2)]
    assert entry is not None
    pointers = (pointer(array.ctypes.data) for array in (*given, *outputs))
    assert entry(*pointers, COUNT, 2, 1, 1.0, pointer(0)) == 0
    return outputs


@pytest.mark.parametrize("place", [0, TOKENS, COUNT - 1])
@pytest.mark.parametrize("index", [-1, 2])
def test_it_is_found_in_every_tile(place: int, index: int, library: SharedObject) -> None:
    chosen = (np.arange(COUNT) % 2).astype(np.int32)
    loss, counts, _ = balanced(library, chosen)
    assert np.isfinite(loss).all()
    assert counts.tolist() == [COUNT // 2 + 1, COUNT // 2]
    chosen[place] = index
    loss, counts, _ = balanced(library, chosen)
    assert np.isnan(loss).all()
    assert np.isnan(counts).all()
