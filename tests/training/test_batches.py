from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.data import Batches, DataError, Tokens


def corpus(length: int, shard: int) -> Tokens:
    """The tokens 0, 1, 2, ... in shards, so that a token tells its place."""
    ids = np.arange(length, dtype=np.uint16)
    return Tokens({str(start): ids[start : start + shard] for start in range(0, length, shard)}, length)


@given(batch=st.integers(1, 5), seq_len=st.integers(1, 7), more=st.integers(0, 100), shard=st.integers(1, 50))
def test_batches_follow_each_other_and_targets_follow_tokens(batch: int, seq_len: int, more: int, shard: int) -> None:
    length = batch * seq_len + 1 + more
    batches = Batches(corpus(length, shard), batch, seq_len)
    size = batch * seq_len
    assert len(batches) == (length - 1) // size
    for index, (tokens, targets) in enumerate(batches):
        assert tokens.dtype == targets.dtype == np.int32
        assert tokens.flags.c_contiguous
        assert targets.flags.c_contiguous
        expected = np.arange(index * size, (index + 1) * size).reshape(batch, seq_len)
        np.testing.assert_array_equal(tokens, expected)
        np.testing.assert_array_equal(targets, expected + 1)


def test_updates_begin_again_at_the_start() -> None:
    batches = Batches(corpus(25, 10), 2, 4)
    assert len(batches) == 3
    starts = [int(batches.for_update(number)[0][0, 0]) for number in range(1, 6)]
    assert starts == [0, 8, 16, 0, 8]


def test_a_batch_larger_than_the_corpus_says_what_it_needs() -> None:
    with pytest.raises(DataError) as raised:
        Batches(corpus(8, 8), 2, 4)
    needed = "expected a corpus of at least 2 x 4 tokens and the one that follows (9)"
    assert str(raised.value) == f"batches: {needed}, got 8 tokens"


@pytest.mark.parametrize(("batch", "seq_len"), [(0, 4), (2, -1)])
def test_a_batch_of_no_size_is_refused(batch: int, seq_len: int) -> None:
    with pytest.raises(DataError, match=f"batch and seq_len of at least 1, got {batch} and {seq_len}"):
        Batches(corpus(8, 8), batch, seq_len)


def test_a_batch_that_is_not_there_is_named() -> None:
    with pytest.raises(IndexError, match="batch 3: expected 0 to 2"):
        Batches(corpus(25, 10), 2, 4)[3]
