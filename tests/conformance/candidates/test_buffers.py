"""Where the arrays of a call begin in each run: at multiples of 16 bytes or not."""

from __future__ import annotations

import numpy as np
import pytest

from bindings import Signature, read_header
from conformance.candidates.worker.arena import Arena
from conformance.candidates.worker.buffers import RUNS
from conformance.candidates.worker.call import Call


@pytest.mark.parametrize(
    ("displaced", "found"), [(None, ("A", "B", "C")), ("", ()), ("A", ("A",)), ("B", ("B",)), ("C", ("C",))]
)
def test_all_arrays_begin_elsewhere_in_run_3_or_one_alone(displaced: str | None, found: tuple[str, ...]) -> None:
    arguments = {"A": np.ones((8, 4), np.float32), "B": np.ones((4, 4), np.float32)}
    arena = Arena()
    arena.begin()
    call = Call(arena, Signature(read_header().operations["gemm"]), arguments, {})
    if displaced is not None:
        call.displace(displaced)
    begin = {run: tuple(buffer.name for buffer in call.buffers if buffer.start(run) % 16) for run in RUNS}
    arena.close()
    assert begin == {1: (), 2: (), 3: found}


def test_what_is_no_whole_number_of_16_bytes_begins_at_a_multiple_in_run_3() -> None:
    arena = Arena()
    arena.begin()
    call = Call(arena, Signature(read_header().operations["silu"]), {"input": np.ones(33, np.float32)}, {})
    found = {run: [buffer.start(run) % 16 != 0 for buffer in call.buffers] for run in RUNS}
    arena.close()
    assert found == {1: [True, True], 2: [True, True], 3: [False, False]}
