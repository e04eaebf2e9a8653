"""One part of the operations and steps of a run, for machines that share the work."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.catalogue.keywords import Keywords
from conformance.commands.cli import main
from conformance.commands.selection import select
from conformance.exit_codes import HARNESS
from conformance.ids import operation_of

WHOLE = select(Keywords())
SHARDS = [WHOLE.part(which, 3) for which in (1, 2, 3)]


def test_the_parts_are_the_whole() -> None:
    assert sorted(id for shard in SHARDS for id in shard.cases) == sorted(WHOLE.cases)
    assert sorted(step for shard in SHARDS for step in shard.steps) == sorted(WHOLE.steps)


def test_an_operation_is_in_one_part() -> None:
    parts = [{operation_of(id) for id in shard.cases} for shard in SHARDS]
    assert all(parts)
    assert sum(map(len, parts)) == len({*WHOLE.operations})


def test_a_part_is_no_whole_run() -> None:
    assert WHOLE.is_whole
    assert WHOLE.part(1, 1).is_whole
    assert not any(shard.is_whole for shard in SHARDS)


def test_the_command_lists_a_part(capsys: pytest.CaptureFixture[str]) -> None:
    listed = set()
    for which in (1, 2):
        assert main(["list", "-k", "silu/plain or gelu/plain", "--shard", f"{which}/2"]) == 0
        listed |= {*capsys.readouterr().out.split()}
    assert main(["list", "-k", "silu/plain or gelu/plain"]) == 0
    assert listed == {*capsys.readouterr().out.split()}


def test_a_part_without_a_case_is_no_pass(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "-o", "silu", "--shard", "2/400"]) == HARNESS
    assert "no case matches -o silu --shard 2/400" in capsys.readouterr().err


@pytest.mark.parametrize("other", [["--case", "silu/plain/33"], ["--lf"]])
def test_a_part_of_exact_cases_is_refused(other: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", "--library", "none.so", "--shard", "1/2", *other])
    assert "not allowed with argument --shard" in capsys.readouterr().err


def test_a_part_of_files_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--outputs", str(tmp_path), "--shard", "1/2"]) == HARNESS
    assert "--shard is of a library" in capsys.readouterr().out
