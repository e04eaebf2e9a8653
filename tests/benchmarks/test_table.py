"""The table says of every ratio what it is, and of a missing one why."""

from __future__ import annotations

from benchmarks.table import Table


def test_ratios_are_to_the_c_library_round_by_round() -> None:
    table = Table(("reference", "C", "PyTorch"), ["a machine"])
    table.add_time("gemm", "C", [0.002, 0.001, 0.003])
    table.add_ratios("gemm", {"reference": [3.0, 60.0, 3.0], "C": [1.0, 20.0, 1.0], "PyTorch": [0.5, 10.0, 0.5]})
    _, header, _, columns, row = table.lines()
    assert header == "a machine"
    assert columns.split() == ["reference", "C", "PyTorch", *["reference", "/", "C", "PyTorch", "/", "C"]]
    assert row.split() == ["gemm", "-", "2.000", "-", *["3.00", "(3.00", "to", "3.00)", "0.50", "(0.50", "to", "0.50)"]]


def test_an_operation_that_a_backend_lacks_is_stated() -> None:
    table = Table(("reference", "C", "PyTorch"), [])
    table.add_ratios("expert_sort", {"reference": [2.0], "C": [1.0]})
    assert table.lines()[-1].split() == ["expert_sort", "-", "-", "none", *["2.00", "(2.00", "to", "2.00)", "none"]]


def test_nothing_timed_is_no_table() -> None:
    table = Table(("reference", "C"), ["a machine"])
    assert table.lines() == []
    table.notes.append("sharding: 1 MB/s")
    assert table.lines() == ["", "a machine", "sharding: 1 MB/s"]
