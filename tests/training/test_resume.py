"""Tokenising that is stopped anywhere and resumed writes what it would have written in one go."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.training.killing import Killed, killed_at
from training.data import BpeTokenizer, ByteTokenizer, DataError, Document, encoding, list_documents, write_shards

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
BYTES = ByteTokenizer()
DOCUMENTS = [Document(str(number), f"{number} " * (3 * number + 1)) for number in range(7)]
SETTINGS: dict[str, Any] = {"shard_tokens": 70, "validation": 0.3, "commit_seconds": 0.0}


@pytest.fixture
def small_units(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many commits."""
    monkeypatch.setattr(encoding, "_UNIT_DOCUMENTS", 2)


@pytest.mark.usefixtures("small_units")
def test_a_run_killed_at_any_change_of_the_disk_goes_on(tmp_path: Path, contents: Callable[[Path], object]) -> None:
    write_shards(DOCUMENTS, BYTES, tmp_path / "whole", **SETTINGS)
    whole = contents(tmp_path / "whole")
    kills = 0
    while not (tmp_path / "unharmed").exists():
        folder = tmp_path / str(kills)
        with killed_at(kills + 1):
            try:
                write_shards(DOCUMENTS, BYTES, folder, **SETTINGS)
            except Killed:
                kills += 1
            else:
                folder.rename(tmp_path / "unharmed")
                continue
        write_shards(DOCUMENTS, BYTES, folder, resume=True, **SETTINGS)
        assert contents(folder) == whole
    assert kills > 100
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.usefixtures("small_units")
def test_a_run_killed_again_and_again_goes_on(tmp_path: Path, contents: Callable[[Path], object]) -> None:
    documents = DOCUMENTS * 5
    write_shards(documents, BYTES, tmp_path / "whole", **SETTINGS)
    kills = 0
    while not (tmp_path / "killed").exists():
        with killed_at(50 + kills):
            try:
                write_shards(documents, BYTES, tmp_path / "killed", resume=True, **SETTINGS)
            except Killed:
                kills += 1
    assert kills > 3
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_process_killed_at_random_moments_goes_on(workers: int) -> None:
    command = [sys.executable, "tests/training/kill_sharding.py", "--kills", "3", "--workers", str(workers)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "the same bytes" in run.stdout


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    """The output of a run that was stopped by a document that is not text, after three that are."""
    texts = tmp_path / "texts"
    texts.mkdir()
    for name in "abc":
        (texts / name).write_text(name * 100, encoding="utf-8")
    (texts / "d").write_bytes(b"\xff")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "_UNIT_DOCUMENTS", 1)
        with pytest.raises(DataError, match="d: not UTF-8 at byte 0"):
            write_shards(list_documents(texts), BYTES, tmp_path / "shards", **SETTINGS)
    return tmp_path / "shards"


def test_a_document_that_stopped_a_run_may_be_repaired(stopped: Path, contents: Callable[[Path], object]) -> None:
    texts = stopped.parent / "texts"
    (texts / "d").write_text("text", encoding="utf-8")
    write_shards(list_documents(texts), BYTES, stopped, resume=True, **SETTINGS)
    write_shards(list_documents(texts), BYTES, stopped.parent / "whole", **SETTINGS)
    assert contents(stopped) == contents(stopped.parent / "whole")


def test_a_document_already_tokenised_must_not_change(stopped: Path) -> None:
    texts = stopped.parent / "texts"
    os.utime(texts / "b", ns=(0, 0))
    with pytest.raises(DataError, match=r"\.shards\.unfinished: b has changed since it was tokenised"):
        write_shards(list_documents(texts), BYTES, stopped, resume=True, **SETTINGS)
    (texts / "b").unlink()
    with pytest.raises(DataError, match=r"\.shards\.unfinished: b has changed since it was tokenised"):
        write_shards(list_documents(texts), BYTES, stopped, resume=True, **SETTINGS)


@pytest.mark.parametrize(
    "other", [{"shard_tokens": 71}, {"validation": 0.2}, {"tokenizer": BpeTokenizer.train(["text"], 300)}]
)
def test_other_settings_are_refused(other: dict[str, Any], stopped: Path) -> None:
    sources = list_documents(stopped.parent / "texts")
    with pytest.raises(DataError, match=r"\.shards\.unfinished: begun with other settings \(.*shard_tokens=70"):
        write_shards(sources, other.pop("tokenizer", BYTES), stopped, resume=True, **(SETTINGS | other))


def test_stopped_work_is_not_overwritten(stopped: Path) -> None:
    with pytest.raises(DataError, match="left by a run that was stopped; resume it, or remove this folder"):
        write_shards(DOCUMENTS, BYTES, stopped, **SETTINGS)


def test_a_tail_that_is_shorter_than_it_was_is_named(stopped: Path) -> None:
    tail = stopped.with_name(".shards.unfinished") / "train_documents.tail"
    os.truncate(tail, 3)
    with pytest.raises(DataError, match=r"train_documents\.tail: expected at least \d+ bytes, the file ends at byte 3"):
        write_shards(list_documents(stopped.parent / "texts"), BYTES, stopped, resume=True, **SETTINGS)


def test_two_processes_do_not_work_on_one_folder(stopped: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    descriptor = os.open(stopped.with_name(".shards.unfinished"), os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    with pytest.raises(DataError, match=r"\.shards\.unfinished: another process is working on it"):
        write_shards(DOCUMENTS, BYTES, stopped, resume=True, **SETTINGS)
    os.close(descriptor)


def test_resuming_finished_work_changes_nothing(tmp_path: Path, contents: Callable[[Path], object]) -> None:
    manifest = write_shards(DOCUMENTS, BYTES, tmp_path / "shards", **SETTINGS)
    before = contents(tmp_path / "shards")
    assert write_shards(DOCUMENTS, BYTES, tmp_path / "shards", resume=True, **SETTINGS) == manifest
    assert contents(tmp_path / "shards") == before
    others = [replace(DOCUMENTS[0], text="other text"), *DOCUMENTS[1:]]
    with pytest.raises(DataError, match="holds shards of other documents or settings"):
        write_shards(others, BYTES, tmp_path / "shards", resume=True, **SETTINGS)


class Deadly(Document):
    """Ends the process that reads it."""

    def __getattribute__(self, name: str) -> Any:
        if name == "text" and multiprocessing.parent_process():
            os._exit(1)
        return super().__getattribute__(name)


def test_a_worker_that_dies_ends_the_run_with_a_message(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a worker process died \(out of memory\?\): resume with fewer workers"):
        write_shards([Deadly("deadly", "text")], BYTES, tmp_path / "shards", workers=2)
