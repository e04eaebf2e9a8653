"""Checkpoints: whole or not there, the newest few, and refused by name where they do not fit."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.training.killing import Killed, killed_at
from training.checkpoints import Checkpoint, CheckpointError, Store, require


def checkpoint(step: int) -> Checkpoint:
    weights = {"w": np.full((2, 3), step, np.float32), "b": np.arange(3, dtype=np.float32)}
    return Checkpoint({"parameters": weights, "moments": {"m.w": weights["w"] / 3}}, {"step": step, "data": {"at": 1}})


def assert_is(found: Checkpoint, step: int) -> None:
    expected = checkpoint(step)
    assert found.content == expected.content
    assert found.tensors.keys() == expected.tensors.keys()
    for file, tensors in expected.tensors.items():
        assert found.tensors[file].keys() == tensors.keys()
        for name, array in tensors.items():
            np.testing.assert_array_equal(found.tensors[file][name], array, strict=True)


def never(message: str) -> None:
    raise AssertionError(message)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two checkpoints, of steps 8 and 9."""
    made = Store(tmp_path / "checkpoints", keep=2)
    for step in (7, 8, 9):
        made.save(step, checkpoint(step))
    return made


def test_the_newest_are_kept_and_come_back(store: Store) -> None:
    assert store.steps() == [8, 9]
    step, found = store.newest(never) or (0, None)
    assert step == 9
    assert found is not None
    assert_is(found, 9)


def test_without_a_folder_there_is_none(tmp_path: Path) -> None:
    assert Store(tmp_path / "nowhere", keep=1).newest(never) is None


def test_equal_checkpoints_are_equal_bytes(store: Store, tmp_path: Path) -> None:
    other = Store(tmp_path / "other", keep=1).save(9, checkpoint(9))
    for file in store.path(9).iterdir():
        assert file.read_bytes() == (other / file.name).read_bytes()


def test_a_save_killed_at_any_change_of_the_disk_leaves_whole_checkpoints(store: Store, tmp_path: Path) -> None:
    before = tmp_path / "before"
    store.folder.rename(before)
    kills, saved = 0, False
    while not saved:
        killed = Store(tmp_path / str(kills), keep=2)
        shutil.copytree(before, killed.folder)
        with killed_at(kills + 1):
            try:
                killed.save(10, checkpoint(10))
                saved = True
            except Killed:
                kills += 1
        step, found = killed.newest(never) or (0, None)
        assert found is not None
        assert step in (9, 10)
        assert_is(found, step)
        assert len(killed.steps()) >= 2
        killed.save(11, checkpoint(11))
        assert sorted(path.name for path in killed.folder.iterdir()) == [f"step-{step:08d}", "step-00000011"]
    assert kills > 10


@contextlib.contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Files end there, as they do on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("size", [0, 100, 250])  # within a file of tensors, and of checkpoint.json
def test_a_full_disk_is_named_and_loses_nothing(size: int, store: Store) -> None:
    before = {path: path.read_bytes() for path in store.folder.rglob("*") if path.is_file()}
    got = r"got: .*File too large.*; the newest is of step 9"
    expected = rf"{re.escape(str(store.path(10)))}: expected room for a checkpoint of 0\.0 MB, {got}"
    with files_of_at_most(size), pytest.raises(CheckpointError, match=expected):
        store.save(10, checkpoint(10))
    assert {path: path.read_bytes() for path in store.folder.rglob("*") if path.is_file()} == before
    assert sorted(path.name for path in store.folder.iterdir()) == ["step-00000008", "step-00000009"]
    store.save(10, checkpoint(10))
    assert store.steps() == [9, 10]


def test_a_full_disk_at_the_first_checkpoint_is_named(tmp_path: Path) -> None:
    with files_of_at_most(10), pytest.raises(CheckpointError, match=r"; there is none$"):
        Store(tmp_path / "checkpoints", keep=2).save(10, checkpoint(10))


FILES = ["checkpoint.json", "moments.safetensors", "parameters.safetensors"]


def cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size - 2)


def changed(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[-9] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize("damage", [Path.unlink, cut, changed])
@pytest.mark.parametrize("file", FILES)
def test_a_damaged_newest_is_reported_and_the_one_before_is_used(file: str, damage: Any, store: Store) -> None:
    damage(store.path(9) / file)
    warnings: list[str] = []
    step, found = store.newest(warnings.append) or (0, None)
    assert step == 8
    assert found is not None
    assert_is(found, 8)
    [warning] = warnings
    aside = store.folder / "damaged-step-00000009"
    assert warning.startswith(f"{store.path(9) / file}: ")
    assert warning.endswith(f": set aside as {aside}")
    assert store.steps() == [8]
    assert aside.exists()


def test_all_damaged_is_an_error_that_names_each(store: Store) -> None:
    (store.path(8) / "moments.safetensors").unlink()
    cut(store.path(9) / "parameters.safetensors")
    with pytest.raises(CheckpointError) as raised:
        store.newest(never)
    assert "no checkpoint is whole" in str(raised.value)
    assert re.search(r"step-00000009.parameters\.safetensors: expected (\d+) bytes, got \d+", str(raised.value))
    assert f"{store.path(8) / 'moments.safetensors'}: cannot be read (No such file or directory)" in str(raised.value)
    assert store.steps() == [8, 9]


def rewritten(store: Store, **other: Any) -> None:
    file = store.path(9) / "checkpoint.json"
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | other), encoding="utf-8")


def test_another_format_is_refused_and_no_older_one_taken(store: Store) -> None:
    rewritten(store, format=2)
    with pytest.raises(CheckpointError, match=r"step-00000009.checkpoint\.json: expected format 1, got 2"):
        store.newest(never)


def test_content_that_was_changed_is_damage(store: Store) -> None:
    rewritten(store, content={"step": 1})
    warnings: list[str] = []
    store.newest(warnings.append)
    assert "checkpoint.json: its content is not what its SHA-256 says" in warnings[0]


def required(of_run: dict[str, Any], tensors: Any = None) -> str:
    given = checkpoint(9)
    with pytest.raises(CheckpointError) as raised:
        require(given, Path("there"), of_run, tensors or given.tensors)
    return str(raised.value)


def test_what_does_not_fit_a_run_is_named() -> None:
    given = checkpoint(9)
    require(given, Path("there"), given.content, given.tensors)
    assert required({"step": 8}) == "there: step: this run has 8, the checkpoint is of 9"
    assert required({"data": {"at": 2}}) == "there: data.at: this run has 2, the checkpoint is of 1"
    assert required({"data": {}}) == "there: data.at: this run has None, the checkpoint is of 1"
    assert required({"more": 1}) == "there: more: this run has 1, the checkpoint is of None"


def test_other_tensors_are_named() -> None:
    weights = checkpoint(9).tensors["parameters"]
    other = {**weights, "w": np.zeros((3, 2), np.float32)}
    place, was = "there: parameters.safetensors: w: this run has", "the checkpoint is of float32 of shape (2, 3)"
    moments = checkpoint(9).tensors["moments"]
    assert required({}, {"parameters": other, "moments": moments}) == f"{place} float32 of shape (3, 2), {was}"
    narrow = {**weights, "w": weights["w"].astype(np.float16)}
    assert required({}, {"parameters": narrow, "moments": moments}) == f"{place} float16 of shape (2, 3), {was}"
    fewer = {"b": weights["b"]}
    assert required({}, {"parameters": fewer, "moments": moments}) == f"{place} no such tensor, {was}"
    assert "moments.safetensors: m.w: this run has no such tensor" in required({}, {"parameters": weights})


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    with pytest.raises(ImportError, match=r"need the safetensors package: pip install safetensors"):
        Store(tmp_path, keep=1).save(1, checkpoint(1))


def test_a_checkpoint_of_another_step_is_refused(store: Store) -> None:
    store.save(200, checkpoint(200))
    store.path(200).rename(store.path(290))
    with pytest.raises(
        CheckpointError, match="step-00000290: expected the checkpoint of step 290, got that of step 200"
    ):
        store.newest(never)
