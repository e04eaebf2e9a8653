"""What is timed on a device runs on an emulated one, and what its table says follows from the figures."""

from __future__ import annotations

import pytest

from benchmarks.device.__main__ import Ceilings, shown
from benchmarks.device.replays import SHORT, Replay, take_turns
from benchmarks.device.rows import FORMATS, ROWS, flops, timed
from conformance import operations


def test_every_row_is_a_call_of_its_operation_in_each_of_its_formats() -> None:
    rows = list(timed(short=True))
    assert len(rows) > len(ROWS)
    assert {row.form for row in rows} == set(FORMATS)
    for row in rows:
        case = row.small()
        assert case.operation == row.operation
        assert operations.sizes(row.operation, case.arguments)
        assert all(value.size for value in case.arguments.values() if hasattr(value, "size"))


@pytest.mark.parametrize(
    ("operation", "expected"),
    [("gemm", 2 * 512 * 48 * 48), ("grouped_gemm_tn", 2 * 2048 * 384 * 48), ("rmsnorm", 0)],
)
def test_multiplications_and_additions_are_those_of_the_products(operation: str, expected: int) -> None:
    first = next(row for row in timed(short=True) if row.operation == operation)
    assert flops(first.small()) == expected


def test_a_turn_is_of_whole_launches_and_each_replay_takes_one() -> None:
    asked: list[str] = []
    replays = {
        name: Replay(lambda name=name: asked.append(name), lambda: None, 4, 0, None)  # type: ignore[misc]
        for name in ("ours", "PyTorch")
    }
    seconds = take_turns(replays, SHORT)
    assert seconds.keys() == replays.keys()
    assert asked == ["ours"] * 2 + ["PyTorch"] * 2 + ["ours", "PyTorch"]  # two before the first turn


def test_the_floor_is_the_longer_of_copying_and_multiplying() -> None:
    ceilings = Ceilings(1e12, {"bf16": 1e14})
    row = {"row": "gemm", "format": "bf16", "moved": 1e6, "flops": 1e12, "seconds": 0.02, "peer": 0.01}
    assert ceilings.seconds(row) == 0.01
    assert ceilings.seconds(row | {"format": "float32"}) == 1e-6
    assert shown(row, ceilings).split()[-3:] == ["50%", "10,000.0", "0.50"]
    assert "no such thing" in shown(row | {"peer": None, "without": "no such thing"}, ceilings)
