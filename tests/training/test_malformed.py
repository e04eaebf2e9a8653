"""Shards that are not what was written are named, with the place."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import numpy as np
import pytest

from training.data import ByteTokenizer, DataError, Document, Tokens, verify, write_shards

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two shards: the mark and "abcd", the mark and "e"."""
    written = tmp_path / "shards"
    write_shards([Document("a", "abcd"), Document("b", "e")], ByteTokenizer(), written, shard_tokens=5)
    return written


def refusal(call: Callable[[Path], object], folder: Path) -> str:
    with pytest.raises(DataError) as raised:
        call(folder)
    message = str(raised.value)
    assert message.startswith(str(folder))
    return message.removeprefix(str(folder) + os.sep)


@pytest.mark.parametrize("kept", [0, 5, 100, 130, 137])
@pytest.mark.parametrize("file", ["train_000000.npy", "train_documents.npy"])
def test_a_file_cut_short_is_named_with_its_end(file: str, kept: int, folder: Path) -> None:
    os.truncate(folder / file, kept)
    assert refusal(Tokens.open, folder).startswith(f"{file}: not a whole .npy file: the file ends at byte {kept} (")


def test_a_file_that_goes_on_behind_its_end_is_named(folder: Path) -> None:
    with (folder / "train_000001.npy").open("ab") as file:
        file.write(b"more")
    assert refusal(Tokens.open, folder) == "train_000001.npy: expected an end at byte 132, found 136 bytes"


@pytest.mark.parametrize("other", [b"\t", b"\n", b"\f", b"#", b"\0"])
@pytest.mark.parametrize("place", [67, 100, 126])
@pytest.mark.parametrize("file", ["train_000001.npy", "train_documents.npy"])
def test_a_changed_padding_of_the_header_is_named(file: str, place: int, other: bytes, folder: Path) -> None:
    content = bytearray((folder / file).read_bytes())
    assert content[place : place + 1] == b" "
    content[place : place + 1] = other
    (folder / file).write_bytes(content)
    changed = f"{file}: expected the header that np.save writes, found byte {place} changed"
    assert refusal(Tokens.open, folder).startswith((changed, f"{file}: not a whole .npy file"))


def test_every_changed_byte_of_a_shard_is_found(folder: Path) -> None:
    path = folder / "train_000000.npy"
    right = path.read_bytes()
    for place in range(len(right)):
        for change in (1, 0x20, 0x80):
            path.write_bytes(right[:place] + bytes([right[place] ^ change]) + right[place + 1 :])
            assert refusal(verify, folder).startswith("train_000000.npy: ")
    path.write_bytes(right)
    verify(folder)


@pytest.mark.parametrize(
    ("array", "got"),
    [
        (np.zeros(2, np.int32), "int32 of shape (2,)"),
        (np.zeros(2, ">u2"), ">u2 of shape (2,)"),
        (np.zeros((1, 2), np.uint16), "uint16 of shape (1, 2)"),
        (np.zeros(3, np.uint16), "uint16 of shape (3,)"),
    ],
)
def test_an_array_that_does_not_match_the_manifest_is_named(array: np.ndarray, got: str, folder: Path) -> None:
    np.save(folder / "train_000001.npy", array)
    expected = "expected 2 values of uint16 in one row, as the manifest says"
    assert refusal(Tokens.open, folder) == f"train_000001.npy: {expected}, got {got}"


def test_a_file_that_is_gone_is_named(folder: Path) -> None:
    (folder / "train_000001.npy").unlink()
    assert refusal(Tokens.open, folder) == "train_000001.npy: cannot be read (No such file or directory)"


def test_an_array_of_objects_is_not_loaded(folder: Path) -> None:
    np.save(folder / "train_000001.npy", np.array([1, "two"], object), allow_pickle=True)
    assert refusal(Tokens.open, folder).startswith("train_000001.npy: not a whole .npy file")


def test_an_id_beyond_the_vocabulary_is_named_with_its_place(folder: Path) -> None:
    np.save(folder / "train_000001.npy", np.array([256, 300], np.uint16))
    tokens = Tokens.open(folder)
    assert tokens.read(0, 6).tolist() == [256, *b"abcd", 256]
    for call in (lambda folder: tokens.read(3, 4), verify):
        assert refusal(call, folder) == "train_000001.npy: token 1 is 300, but the vocabulary has 257 ids"


def test_a_changed_token_is_found_by_reading_all(folder: Path) -> None:
    np.save(folder / "train_000001.npy", np.array([256, 102], np.uint16))
    Tokens.open(folder)
    assert refusal(verify, folder) == "train_000001.npy: its SHA-256 is not the one in the manifest"


def test_a_moved_mark_is_named_with_its_place(folder: Path) -> None:
    np.save(folder / "train_000000.npy", np.array([256, 97, 256, 99, 100], np.uint16))
    expected = "train_000000.npy: token 2: a document's mark and the list of documents do not agree"
    assert refusal(verify, folder) == expected


def test_other_places_of_documents_are_found_when_opened(folder: Path) -> None:
    np.save(folder / "train_documents.npy", np.array([0, 4]))
    assert refusal(Tokens.open, folder) == "train_documents.npy: its SHA-256 is not the one in the manifest"


def test_another_tokenizer_is_named(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{}", encoding="utf-8")
    assert refusal(verify, folder) == "tokenizer.json: not the tokeniser of these shards"


def test_a_folder_without_a_manifest_is_named(tmp_path: Path) -> None:
    assert refusal(Tokens.open, tmp_path).startswith("manifest.json: not there; expected a folder that ")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not JSON (Expecting property name"),
        ("\udcff", "not JSON ('utf-8' codec can't decode byte 0xff in position 0"),
        ("[]", "not a manifest of shards (TypeError: "),
        ("{}", "not a manifest of shards (KeyError: 'format')"),
        ('{"format": 2}', "expected format 1, got 2"),
    ],
)
def test_a_manifest_that_is_none_is_named(content: str, message: str, folder: Path) -> None:
    (folder / "manifest.json").write_text(content, encoding="utf-8", errors="surrogateescape")
    assert refusal(Tokens.open, folder).startswith(f"manifest.json: {message}")


def test_a_manifest_that_contradicts_itself_is_named(folder: Path) -> None:
    content = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    content["splits"]["train"]["tokens"] = 8
    (folder / "manifest.json").write_text(json.dumps(content), encoding="utf-8")
    message = "a split of 8 tokens and 2 documents, whose files hold 7 and 2"
    assert refusal(Tokens.open, folder) == f"manifest.json: {message}"


def test_a_split_without_documents_is_named(folder: Path) -> None:
    with pytest.raises(DataError, match="the validation split holds no documents"):
        Tokens.open(folder, "validation")
    with pytest.raises(DataError, match="split: expected train or validation, got 'test'"):
        Tokens.open(folder, "test")
