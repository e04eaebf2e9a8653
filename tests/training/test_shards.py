from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.data import ByteTokenizer, DataError, Document, Tokens, digest, tokenize, write_shards

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BYTES = ByteTokenizer()
DOCUMENTS = [Document("first", "abc"), Document("empty", ""), Document("second", "de")]


def test_the_mark_stands_before_each_document_that_has_text() -> None:
    tokens = tokenize(DOCUMENTS, BYTES)
    assert tokens.dtype == np.uint16
    assert tokens.tolist() == [256, *b"abc", 256, *b"de"]


@given(texts=st.lists(st.text(max_size=20), max_size=4), shard_tokens=st.integers(1, 40))
def test_shards_hold_the_tokens_in_order_and_only_the_last_is_short(
    texts: list[str], shard_tokens: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    documents = [Document("text", text) for text in [*texts, "."]]
    folder = tmp_path_factory.mktemp("corpus") / "shards"
    summary = write_shards(documents, BYTES, folder, shard_tokens)
    shards = [np.load(file) for file in sorted(folder.glob("*.npy"))]
    whole = tokenize(documents, BYTES)
    np.testing.assert_array_equal(np.concatenate(shards), whole)
    assert {shard.dtype for shard in shards} == {np.dtype(np.uint16)}
    assert [shard.size for shard in shards[:-1]] == [shard_tokens] * (len(shards) - 1)
    assert 1 <= shards[-1].size <= shard_tokens
    assert (summary.tokens, summary.shards, summary.sha256) == (whole.size, len(shards), digest(whole))
    assert summary.documents == sum(bool(document.text) for document in documents)


@given(start=st.integers(0, 40), count=st.integers(1, 40), shard_tokens=st.integers(1, 9))
def test_reading_crosses_the_ends_of_shards(
    start: int, count: int, shard_tokens: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    documents = [Document("text", "the quick brown fox jumps over it")]
    folder = tmp_path_factory.mktemp("corpus") / "shards"
    write_shards(documents, BYTES, folder, shard_tokens)
    tokens = Tokens.open(folder)
    whole = tokenize(documents, BYTES)
    assert (len(tokens), tokens.vocab_size) == (whole.size, 257)
    if start + count <= whole.size:
        part = tokens.read(start, count)
        assert part.dtype == np.int32
        np.testing.assert_array_equal(part, whole[start : start + count])
    else:
        with pytest.raises(DataError, match=rf"tokens {start} to {start + count}: expected a part of 0 to 34"):
            tokens.read(start, count)


def test_nothing_is_left_behind_when_a_document_fails(tmp_path: Path) -> None:
    def documents() -> Iterator[Document]:
        yield DOCUMENTS[0]
        raise DataError("the second cannot be read")

    with pytest.raises(DataError, match="the second cannot be read"):
        write_shards(documents(), BYTES, tmp_path / "shards", 2)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_holds_something_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("precious", encoding="utf-8")
    with pytest.raises(DataError, match="already there; expected a new or empty folder"):
        write_shards(DOCUMENTS, BYTES, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize("documents", [[], DOCUMENTS[1:2]])
def test_a_corpus_without_text_is_refused(documents: list[Document], tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the corpus is empty: no document holds any text"):
        write_shards(documents, BYTES, tmp_path / "shards")


def test_a_vocabulary_too_large_for_uint16_is_refused() -> None:
    class Words(ByteTokenizer):
        vocab_size = 65537

    with pytest.raises(DataError, match=r"vocabulary: expected at most 65536 ids \(stored as uint16\), got 65537"):
        tokenize(DOCUMENTS, Words())


def test_a_shard_of_no_size_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="shard_tokens: expected at least 1, got 0"):
        write_shards(DOCUMENTS, BYTES, tmp_path / "shards", 0)


@pytest.mark.parametrize(
    ("array", "got"),
    [
        (np.zeros(4, np.int32), "int32 of shape (4,)"),
        (np.zeros(4, ">u2"), ">u2 of shape (4,)"),
        (np.zeros((2, 2), np.uint16), "uint16 of shape (2, 2)"),
    ],
)
def test_a_shard_of_another_type_is_named(array: np.ndarray, got: str, tmp_path: Path) -> None:
    np.save(tmp_path / "tokens.npy", array)
    with pytest.raises(DataError) as raised:
        Tokens.open(tmp_path, 257)
    assert str(raised.value) == f"{tmp_path / 'tokens.npy'}: expected a flat array of uint16, got {got}"


@pytest.mark.parametrize("kept", [0, 5, 100, 135])
def test_a_truncated_shard_is_named(kept: int, tmp_path: Path) -> None:
    file = tmp_path / "tokens.npy"
    np.save(file, np.arange(4, dtype=np.uint16))
    file.write_bytes(file.read_bytes()[:kept])
    with pytest.raises(DataError, match=r"tokens\.npy: not a readable \.npy file"):
        Tokens.open(tmp_path, 257)


def test_an_id_beyond_the_vocabulary_is_named_with_shard_and_place(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros(5, np.uint16))
    np.save(tmp_path / "b.npy", np.array([1, 2, 300, 301], np.uint16))
    tokens = Tokens.open(tmp_path, 257)
    assert tokens.read(0, 7).tolist() == [0, 0, 0, 0, 0, 1, 2]
    with pytest.raises(DataError) as raised:
        tokens.read(6, 3)
    assert str(raised.value) == f"{tmp_path / 'b.npy'}: token 2 is 300, but the vocabulary has 257 ids"


def test_a_folder_without_shards_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"expected token shards \(\*\.npy\), found none"):
        Tokens.open(tmp_path)


def test_shards_without_a_tokenizer_need_a_vocabulary(tmp_path: Path) -> None:
    np.save(tmp_path / "tokens.npy", np.zeros(5, np.uint16))
    with pytest.raises(DataError, match=r"tokenizer\.json: not a tokeniser"):
        Tokens.open(tmp_path)


def test_an_empty_shard_is_no_corpus() -> None:
    with pytest.raises(DataError, match="the corpus is empty: there are no tokens"):
        Tokens({"memory": np.empty(0, np.uint16)}, 257)
