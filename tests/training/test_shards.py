from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from training.data import ByteTokenizer, DataError, Document, Tokens, digest, tokenize, verify, write_shards
from training.data.encoding import split_of
from training.data.manifest import SPLITS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BYTES = ByteTokenizer()
DOCUMENTS = [Document("first", "abc"), Document("empty", ""), Document("second", "de")]


class Wide(ByteTokenizer):
    """Bytes whose vocabulary needs 32 bits."""

    vocab_size = 65537
    eot = 65536


def test_the_mark_stands_before_each_document_that_has_text() -> None:
    tokens = tokenize(DOCUMENTS, BYTES)
    assert tokens.dtype == np.uint16
    assert tokens.tolist() == [256, *b"abc", 256, *b"de"]


def test_ids_beyond_16_bits_are_stored_in_32() -> None:
    tokens = tokenize(DOCUMENTS, Wide())
    assert tokens.dtype == np.uint32
    assert tokens.tolist() == [65536, *b"abc", 65536, *b"de"]


def test_the_digest_is_that_of_what_is_stored() -> None:
    tokens = tokenize(DOCUMENTS, BYTES)
    assert digest(tokens) == digest(tokens.astype(">u2")) != digest(tokens[1:])


@pytest.mark.slow
@given(texts=st.lists(st.text(max_size=20), max_size=4), shard_tokens=st.integers(1, 40))
def test_shards_hold_the_tokens_in_order_and_only_the_last_is_short(
    texts: list[str], shard_tokens: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    documents = [Document("text", text) for text in [*texts, "."]]
    folder = tmp_path_factory.mktemp("corpus") / "shards"
    manifest = write_shards(documents, BYTES, folder, shard_tokens=shard_tokens)
    split = manifest.splits["train"]
    shards = [np.load(folder / shard.file) for shard in split.shards]
    whole = tokenize(documents, BYTES)
    np.testing.assert_array_equal(np.concatenate(shards), whole)
    assert {shard.dtype for shard in shards} == {np.dtype(np.uint16)}
    assert [shard.size for shard in shards[:-1]] == [shard_tokens] * (len(shards) - 1)
    assert 1 <= shards[-1].size <= shard_tokens
    assert [shard.sha256 for shard in split.shards] == [digest(shard) for shard in shards]
    assert (split.tokens, split.documents) == (whole.size, sum(bool(document.text) for document in documents))
    starts = Tokens.open(folder).starts
    assert starts is not None
    assert starts.tolist() == np.flatnonzero(whole == 256).tolist()
    assert verify(folder) == manifest


def test_shards_of_32_bits_are_read_back(tmp_path: Path) -> None:
    write_shards(DOCUMENTS, Wide(), tmp_path / "shards", shard_tokens=4)
    assert Tokens.open(tmp_path / "shards").read(0, 7).tolist() == [65536, *b"abc", 65536, *b"de"]


@given(start=st.integers(0, 40), count=st.integers(1, 40), shard_tokens=st.integers(1, 9))
def test_reading_crosses_the_ends_of_shards(
    start: int, count: int, shard_tokens: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    documents = [Document("text", "the quick brown fox jumps over it")]
    folder = tmp_path_factory.mktemp("corpus") / "shards"
    write_shards(documents, BYTES, folder, shard_tokens=shard_tokens)
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


@given(texts=st.sets(st.text(min_size=1, max_size=9), min_size=1, max_size=30), share=st.floats(0, 0.99))
def test_a_document_is_in_one_split_whatever_the_others_are(
    texts: set[str], share: float, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("corpus") / "shards"
    documents = {name: [Document("text", t) for t in sorted(texts) if split_of(t, share) == name] for name in SPLITS}
    assume(documents["train"])
    manifest = write_shards([Document("text", text) for text in sorted(texts)], BYTES, folder, validation=share)
    for name, split in manifest.splits.items():
        assert split.documents == len(documents[name])
        if documents[name]:
            whole = tokenize(documents[name], BYTES)
            assert Tokens.open(folder, name).read(0, split.tokens).tolist() == whole.tolist()
    verify(folder)


def test_a_corpus_that_leaves_nothing_to_train_on_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the corpus is empty: all 2 documents are for validation"):
        write_shards(DOCUMENTS, BYTES, tmp_path / "shards", validation=1 - 2**-50)
    assert list(tmp_path.iterdir()) == []


def test_the_share_of_validation_is_about_what_was_asked_for() -> None:
    drawn = [split_of(str(number), 0.1) for number in range(10_000)]
    # The standard deviation of that count is 30.
    assert abs(drawn.count("validation") - 1000) < 6 * 30
    assert all(split_of(str(n), 0.2) == "validation" for n in range(10_000) if drawn[n] == "validation")


def test_the_bytes_do_not_depend_on_the_number_of_workers(tmp_path: Path, contents: Callable[[Path], object]) -> None:
    documents = [Document(str(number), f"{number} " * 30_000) for number in range(40)]
    written = []
    for workers in (1, 2):
        folder = tmp_path / str(workers)
        write_shards(documents, BYTES, folder, shard_tokens=1 << 20, validation=0.2, workers=workers)
        written.append(contents(folder))
    assert written[0] == written[1]


def test_a_folder_that_holds_something_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("precious", encoding="utf-8")
    for resume in (False, True):
        with pytest.raises(DataError, match="already there; expected a new or empty folder"):
            write_shards(DOCUMENTS, BYTES, tmp_path, resume=resume)
    assert [file.name for file in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize("documents", [[], DOCUMENTS[1:2]])
def test_a_corpus_without_text_is_refused(documents: list[Document], tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the corpus is empty: no document holds any text"):
        write_shards(documents, BYTES, tmp_path / "shards")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(DataError, match="the corpus is empty"):
        tokenize(documents, BYTES)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"shard_tokens": 0}, "shard_tokens: expected at least 1, got 0"),
        ({"workers": 0}, "workers: expected at least 1, got 0"),
        ({"validation": 1.0}, "validation: expected a share of at least 0 and below 1, got 1.0"),
        ({"validation": float("nan")}, "validation: expected a share of at least 0 and below 1, got nan"),
    ],
)
def test_a_setting_out_of_its_range_is_refused(setting: dict[str, float], message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        write_shards(DOCUMENTS, BYTES, tmp_path / "shards", **setting)  # type: ignore[arg-type]


def test_an_empty_shard_is_no_corpus() -> None:
    with pytest.raises(DataError, match="the corpus is empty: there are no tokens"):
        Tokens({"memory": np.empty(0, np.uint16)}, 257)
