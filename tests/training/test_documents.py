from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from training.data import DataError, embedded_documents, list_documents

if TYPE_CHECKING:
    from pathlib import Path


def test_the_embedded_text_is_several_hundred_kilobytes_in_a_fixed_order() -> None:
    documents = list(embedded_documents())
    assert sum(len(document.text) for document in documents) > 300_000
    assert [document.name for document in documents] == sorted(document.name for document in documents)


def test_a_python_without_the_embedded_text_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydoc_data.topics", None)
    with pytest.raises(DataError, match=r"without pydoc_data\.topics: name a text file or folder"):
        list(embedded_documents())


def test_a_folder_is_read_in_path_order_without_its_hidden_files(tmp_path: Path) -> None:
    for name in ("b.txt", "a/z.txt", "a/.hidden", ".git/config", "a.txt"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(name.encode() + b"\r\n")
    assert [document.text for document in list_documents(tmp_path)] == ["a.txt\r\n", "a/z.txt\r\n", "b.txt\r\n"]


def test_a_file_is_one_document(tmp_path: Path) -> None:
    file = tmp_path / "poem"
    file.write_text("über", encoding="utf-8")
    (document,) = list_documents(file)
    assert (document.name, document.size, document.text) == ("poem", 5, "über")


def test_a_file_that_is_not_utf8_is_named_with_the_offset(tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text("good", encoding="utf-8")
    bad = tmp_path / "latin.txt"
    bad.write_bytes(b"gr" + b"\xfc\xdfe")
    with pytest.raises(DataError) as raised:
        [document.text for document in list_documents(tmp_path)]
    assert str(raised.value) == f"{bad}: not UTF-8 at byte 2 (0xfc: invalid start byte)"


def test_a_path_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere: expected a text file or a folder, found nothing"):
        list_documents(tmp_path / "nowhere")


def test_a_folder_without_files_is_named(tmp_path: Path) -> None:
    (tmp_path / ".hidden").write_text("text", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    with pytest.raises(DataError) as raised:
        list_documents(tmp_path)
    assert str(raised.value) == f"{tmp_path}: the folder holds no files (hidden ones do not count)"


def test_a_file_that_changes_after_it_was_listed_is_named(tmp_path: Path) -> None:
    file = tmp_path / "poem"
    file.write_text("short", encoding="utf-8")
    (document,) = list_documents(file)
    file.write_text("longer", encoding="utf-8")
    with pytest.raises(DataError, match=r"poem: changed while it was read \(from 5 to 6 bytes\)"):
        _ = document.text
    file.unlink()
    with pytest.raises(DataError, match="poem: cannot be read"):
        _ = document.text
