"""Where the arrays of a call begin in each run, what they hold before it, and what memory they take."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bindings import Signature, read_header
from conformance.candidates.poison import POISON
from conformance.candidates.worker import arena as arena_of
from conformance.candidates.worker import findings
from conformance.candidates.worker.arena import Arena
from conformance.candidates.worker.buffers import RUNS, TWICE
from conformance.candidates.worker.call import Call
from conformance.catalogue.full.layout import LaidOut


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


class Counted(LaidOut):
    """An array that is made in parts, and counts how often."""

    made = 0

    def astype(self, dtype: Any) -> Counted:
        return self

    def blocks(self, most: int = 1 << 24) -> Iterator[NDArray[Any]]:
        Counted.made += 1
        return super().blocks(most)


def test_what_is_made_in_parts_is_made_once_for_both_runs_and_once_to_look_at() -> None:
    arena = Arena()
    arena.begin()
    x = Counted(np.arange(3, dtype=np.float32), [np.arange(200_000) % 3])
    call = Call(arena, Signature(read_header().operations["silu"]), {"input": x}, {})
    held, output = call.buffers
    for buffer in call.buffers:
        buffer.fill(arena.memory, TWICE)
    assert Counted.made == 1
    for run in TWICE:
        assert held.array(arena.memory, run).tobytes() == np.asarray(x).tobytes()
        assert output.array(arena.memory, run).tobytes() == POISON[run] * output.size
    Counted.made = 0
    assert [*findings.of_runs(arena.memory, held, TWICE)] == []
    assert Counted.made == 1
    for place in (held.start(2) + 4 * 123_456, held.start(1) + 4):
        arena.memory[place] ^= 1
    words = [finding.text for finding in findings.of_runs(arena.memory, held, TWICE)]
    arena.close()
    assert words == ["input input was changed at [1]", "input input was changed at [123456]"]


def test_memory_is_kept_for_other_slots_until_it_is_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arena_of, "_KEPT", 1 << 20)
    monkeypatch.setattr(arena_of, "_HELD", 1 << 23)
    arena, taken = Arena(), []
    for size in (1 << 20, 3 << 20, 1 << 24):
        is_new = arena.begin()
        slot = arena.take(size)
        arena.memory[slot.start : slot.start + size] = bytes(size)
        taken.append((is_new, os.fstat(arena.file).st_blocks * 512))
    arena.begin()
    empty = os.fstat(arena.file).st_blocks
    arena.close()
    first, second, third = taken
    assert first == (False, pytest.approx(1 << 20, abs=1 << 18))
    assert second[0] is False  # a slot more: no more are kept yet than may be
    assert third[0] is True
    assert third[1] >= 1 << 24
    assert empty == 0
