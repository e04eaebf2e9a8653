from __future__ import annotations

import math
from pathlib import Path

import pytest

from training.log import Log, LogError, read_log


def written(path: Path, *steps: int) -> Path:
    log = Log(path, 0)
    for step in steps:
        log.write("step", step, loss=0.1 * step)
    log.close()
    return path


def test_a_log_goes_on_behind_the_checkpoints_step_and_keeps_its_bytes(tmp_path: Path) -> None:
    path = written(tmp_path / "log.jsonl", 1, 2, 3)
    whole = path.read_bytes()
    with path.open("a", encoding="utf-8") as file:
        file.write('{"kind": "step", "st')
    log = Log(path, 2)
    log.write("step", 3, loss=0.1 * 3)
    log.close()
    assert path.read_bytes() == whole


def test_a_run_from_the_start_begins_the_log_anew(tmp_path: Path) -> None:
    path = written(tmp_path / "log.jsonl", 1, 2)
    assert read_log(written(path, 1)) == [{"kind": "step", "step": 1, "loss": 0.1}]


def test_numbers_that_are_none_are_null(tmp_path: Path) -> None:
    log = Log(tmp_path / "log.jsonl", 0)
    log.write("step", 1, loss=math.nan, loads=[[0.5, math.inf]])
    log.close()
    assert read_log(tmp_path / "log.jsonl") == [{"kind": "step", "step": 1, "loss": None, "loads": [[0.5, None]]}]


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ((1, 2), "expected the steps up to the checkpoint's, 3, got those up to 2"),
        ((1, 3), "expected step 2, got step 3"),
        ((1, 1, 2, 3), "expected step 2, got step 1"),
    ],
)
def test_steps_that_are_missing_or_twice_there_are_named(steps: tuple[int, ...], message: str, tmp_path: Path) -> None:
    path = written(tmp_path / "log.jsonl", *steps)
    with pytest.raises(LogError) as raised:
        Log(path, 3)
    assert str(raised.value) == f"{path}: {message}"


def test_what_is_no_log_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("buy bread\n", encoding="utf-8")
    with pytest.raises(
        LogError, match=r"notes: line 1: expected a JSON object with a kind and a step, got 'buy bread'"
    ):
        Log(tmp_path / "notes", 0)
    assert (tmp_path / "notes").read_text(encoding="utf-8") == "buy bread\n"


@pytest.mark.parametrize("line", ["{", "[]", "{}", '{"kind": "step"}', '{"kind": "step", "step": "1"}'])
def test_a_line_that_is_no_record_is_named(line: str, tmp_path: Path) -> None:
    path = written(tmp_path / "log.jsonl", 1)
    with path.open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    with pytest.raises(LogError) as raised:
        read_log(path)
    assert str(raised.value) == f"{path}: line 2: expected a JSON object with a kind and a step, got {line!r}"


def test_a_log_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(LogError, match=r"log\.jsonl: cannot be read \(No such file or directory\)"):
        Log(tmp_path / "log.jsonl", 3)
