from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.data import BpeTokenizer, ByteTokenizer, DataError, embedded_documents, load_tokenizer

if TYPE_CHECKING:
    from pathlib import Path

    from training.data import Tokenizer

SENTENCES = ["the cat sat on the mat", "the dog sat on the log", "naïve café — 東京"] * 20
BPE = BpeTokenizer.train(SENTENCES, 300)
both = pytest.mark.parametrize("tokenizer", [ByteTokenizer(), BPE], ids=["bytes", "bpe"])


@both
@given(text=st.text())
def test_any_text_comes_back(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert ids.size == 0 or ids.max() < tokenizer.eot == tokenizer.vocab_size - 1


@both
def test_marks_are_left_out_of_the_text(tokenizer: Tokenizer) -> None:
    ids = [tokenizer.eot, *tokenizer.encode("on the mat"), tokenizer.eot]
    assert tokenizer.decode(ids) == "on the mat"


@both
def test_a_saved_tokenizer_comes_back(tokenizer: Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "saved.json").write_text(tokenizer.as_json(), encoding="utf-8")
    loaded = load_tokenizer(tmp_path / "saved.json")
    assert type(loaded) is type(tokenizer)
    assert loaded.vocab_size == tokenizer.vocab_size
    np.testing.assert_array_equal(loaded.encode(SENTENCES[2]), tokenizer.encode(SENTENCES[2]))


def test_half_a_character_is_replaced() -> None:
    assert ByteTokenizer().decode(list("é".encode())[:1]) == "\ufffd"


def test_training_gives_the_size_asked_for_and_the_same_merges_again() -> None:
    texts = [document.text for document in embedded_documents()][:20]
    once, again = (BpeTokenizer.train(texts, 1000) for _ in range(2))
    assert once.vocab_size == again.vocab_size == 1000
    assert once.as_json() == again.as_json()


def test_merged_pairs_shorten_the_text() -> None:
    assert BPE.encode("the cat").size < ByteTokenizer().encode("the cat").size


def test_a_vocabulary_below_the_bytes_is_refused() -> None:
    with pytest.raises(DataError, match=r"vocabulary: expected at least 257 ids .*, got 256"):
        BpeTokenizer.train(SENTENCES, 256)


def test_a_mark_of_another_maker_is_plain_text_inside_a_text(tmp_path: Path) -> None:
    import tokenizers

    other = tokenizers.Tokenizer.from_str(BPE.as_json())
    other.add_special_tokens(["<|endoftext|>"])
    other.save(str(tmp_path / "other.json"))
    loaded = load_tokenizer(tmp_path / "other.json")
    assert loaded.eot == BPE.eot + 1
    assert loaded.encode("a<|endoftext|>b").max() < BPE.eot


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"kind": "words"}', b"\xff"])
def test_a_file_that_is_no_tokenizer_is_named(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "broken.json"
    file.write_bytes(content)
    with pytest.raises(DataError, match=r"broken\.json: not a tokeniser"):
        load_tokenizer(file)


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(ImportError, match=r"need the tokenizers package: pip install tokenizers"):
        BpeTokenizer.train(SENTENCES, 300)
