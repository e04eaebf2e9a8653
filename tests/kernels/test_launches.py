"""Our kernels launch what the table says, on each architecture; a way that is slower and right shows here alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.commands.cli import main
from conformance.launches import ARCHITECTURES, REFUSED, TABLE, differences, operation_of, plans, read
from conformance.operations import OPERATIONS


@pytest.mark.slow
def test_every_call_launches_what_the_table_says(emulated_path: Path) -> None:
    expected = read()
    found = plans(emulated_path, [*expected], 2)
    assert [str(each) for each in differences(expected, found)] == [], "python -m conformance launches --accept"


def test_each_operation_is_in_the_table_on_every_architecture() -> None:
    rows = read()
    assert all(row.keys() == {*ARCHITECTURES} for row in rows.values())
    assert {id.split("/")[id.startswith("full/")] for id in rows} == OPERATIONS.keys()


def test_no_call_of_the_table_is_refused_and_what_launches_nothing_has_nothing_to_compute() -> None:
    rows = read()
    assert not [id for id, row in rows.items() for plan in row.values() if plan and plan[-1].startswith(REFUSED)]
    empty = {operation_of(id) for id, row in rows.items() if () in row.values() and "empty" not in id}
    assert empty == {"zero_grad"}  # a call of the runtime


def test_a_library_that_runs_no_kernels_is_not_called_and_overwrites_no_table(
    stub_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "launches.tsv"
    kept.write_bytes(TABLE.read_bytes())
    assert main(["launches", "--library", str(stub_path), "--accept", "--table", str(kept)]) == 2
    assert "expected its launches on sm_70, got: a library without assayer_emulator" in capsys.readouterr().out
    assert kept.read_bytes() == TABLE.read_bytes()


def test_the_command_names_what_differs(
    emulated_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head, *lines = TABLE.read_text().splitlines()
    row = next(line for line in lines if line.startswith("softmax/"))
    id, where, launch = row.split("\t")
    other = tmp_path / "launches.tsv"
    other.write_text("\n".join([head, *lines]).replace(row, f"{id}\t{where}\tsoftmax_kernel<L> <<<99, 32>>>") + "\n")
    words = ["launches", "--library", str(emulated_path), "-k", "softmax/", "--table", str(other)]
    assert main(words) == 1
    said = capsys.readouterr().out
    assert f"{id} on sm_70, sm_75, sm_80, sm_90: expected softmax_kernel<L> <<<99, 32>>>, got {launch}" in said
    assert "1 of which launch something else than launches.tsv says" in said
