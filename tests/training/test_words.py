"""Byte pairs by remembered words are those of the package alone."""

from __future__ import annotations

import json
from typing import Any

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from training.data import BpeTokenizer, embedded_documents, words
from training.data.words import Words, cuts_are_known

TEXTS = [document.text for document in embedded_documents()]
MODEL = BpeTokenizer.train(TEXTS, 1000)
PACKAGE = tokenizers.Tokenizer.from_str(MODEL.as_json())
# White space of all kinds, what only some engines take for it, letters and digits beyond ASCII, parts of contractions.
AWKWARD = " \n\t\r\x0b\x1c\x1f\x85\xa0\u2003é9٣½aAbs'\u2019tllvere!.0東_-\u017f"


def package(text: str) -> list[int]:
    ids: list[int] = PACKAGE.encode(text, add_special_tokens=False).ids
    return ids


@given(text=st.text() | st.text(alphabet=AWKWARD))
def test_ids_are_those_of_the_package(text: str) -> None:
    assert MODEL.encode(text).tolist() == package(text)


def test_ids_of_real_text_are_those_of_the_package() -> None:
    for text in TEXTS[::8]:
        assert MODEL.encode(text).tolist() == package(text)


@given(text=st.text(alphabet=AWKWARD), block=st.integers(1, 9), most=st.integers(1, 3))
def test_ids_depend_on_neither_blocks_nor_on_how_many_words_are_kept(text: str, block: int, most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words, "_BLOCK", block)
        patch.setattr(words, "_MOST", most)
        few = Words(PACKAGE)
        assert few.encode(text).tolist() == package(text)
        assert len(few) <= most


def changed(**parts: Any) -> tokenizers.Tokenizer:
    return tokenizers.Tokenizer.from_str(json.dumps(json.loads(MODEL.as_json()) | parts))


def test_words_are_only_remembered_where_the_package_cuts_as_expected() -> None:
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    assert cuts_are_known(changed())
    assert cuts_are_known(changed(pre_tokenizer=level))
    for other in (
        changed(pre_tokenizer=None),
        changed(pre_tokenizer={**level, "add_prefix_space": True}),
        changed(pre_tokenizer={**level, "use_regex": False}),
        changed(normalizer={"type": "NFC"}),
        changed(truncation={"max_length": 5, "stride": 0, "strategy": "LongestFirst", "direction": "Right"}),
    ):
        assert not cuts_are_known(other)
        text = "the  the don't e\u0301 "
        assert BpeTokenizer(other).encode(text).tolist() == other.encode(text, add_special_tokens=False).ids


def test_a_word_that_was_added_may_lie_across_cuts() -> None:
    other = changed()
    other.add_tokens(["the end"])
    assert not cuts_are_known(other)
    assert BpeTokenizer(other).encode("the end").size == 1
