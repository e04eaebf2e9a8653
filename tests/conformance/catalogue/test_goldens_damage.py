"""Damaged goldens: each is refused by name, and made again where that is possible."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from conformance.catalogue.goldens import GoldenError, load, tensors
from conformance.catalogue.goldens.names import file_of
from tests.conformance.golden_folder import SILU, check, contents, remake


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def flip_a_bit_of_the_data(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-9] ^= 4
    path.write_bytes(data)


def flip_a_bit_of_the_header(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[20] ^= 4
    path.write_bytes(data)


def drop_a_tensor(path: Path) -> None:
    held = tensors.read(path)
    held.popitem()
    tensors.write(path, held)


def add_a_tensor(path: Path) -> None:
    tensors.write(path, tensors.read(path) | {"expected.extra": np.zeros(3)})


def reshape_a_tensor(path: Path) -> None:
    held = tensors.read(path)
    tensors.write(path, {name: array.reshape(1, -1) for name, array in held.items()})


DAMAGE = (
    truncate, empty, flip_a_bit_of_the_data, flip_a_bit_of_the_header,
    drop_a_tensor, add_a_tensor, reshape_a_tensor, Path.unlink,
)  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
def test_a_damaged_file_is_refused_by_name_and_can_be_made_again(
    folder: Path, damage: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(folder)
    damage(folder / file_of(SILU))
    with pytest.raises(GoldenError, match=r"silu/plain/33\.safetensors: expected .*, got"):
        load(SILU, folder)
    assert check(folder) == 2
    assert "silu/plain/33.safetensors: expected" in capsys.readouterr().out
    assert remake(folder) == 0
    assert contents(folder) == before


def test_a_file_too_many_is_refused_by_name(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    extra = folder / "add" / "plain" / "33.safetensors"
    extra.parent.mkdir(parents=True)
    shutil.copy(folder / file_of(SILU), extra)
    with pytest.raises(GoldenError, match=r"add/plain/33\.safetensors: expected no file"):
        load("add/plain/33", folder)
    assert check(folder) == 2
    assert remake(folder) == 2
    assert "add/plain/33.safetensors" in capsys.readouterr().out
    assert extra.exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 0}', '{"format": 1}', "\xff"])
def test_a_damaged_manifest_is_refused(folder: Path, text: str) -> None:
    (folder / "manifest.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(GoldenError, match=r"manifest\.json: expected"):
        load(SILU, folder)
    assert check(folder) == 2


def test_without_a_manifest_nothing_is_believed(folder: Path) -> None:
    (folder / "manifest.json").unlink()
    with pytest.raises(GoldenError, match=r"manifest\.json: expected a manifest, got no file"):
        load(SILU, folder)
    assert check(folder) == 2


@pytest.mark.parametrize(
    ("due", "changed"),
    [('"goldens": 3', '"goldens": 2'), ('"catalogue": ', '"catalogue": 1'), ('"seed": ', '"seed": 1')],
    ids=["floor of goldens", "floor of the catalogue", "seed"],
)
def test_a_manifest_that_was_changed_by_hand_is_refused(
    folder: Path, due: str, changed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "manifest.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(due, changed, 1), encoding="utf-8")
    with pytest.raises(GoldenError, match=r"manifest\.json: expected digest \w{64} of what it holds .*, got \w{64}"):
        load(SILU, folder)
    for act in (check, remake):
        assert act(folder) == 2
        assert "manifest.json: expected digest" in capsys.readouterr().out
    assert path.read_text(encoding="utf-8") == text.replace(due, changed, 1)


def test_another_process_is_told_what_is_wrong_with_a_golden(tmp_path: Path) -> None:
    error = GoldenError(tmp_path, "a case of the catalogue", "one of another version")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
