from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.training.corpora import corpora, numbered
from training.data import Batches, DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from training.data import Tokens

RANKS, BATCH, SEQ_LEN = st.integers(1, 9), st.integers(1, 4), st.integers(1, 5)


def every_rank(tokens: Tokens, ranks: int, batch: int, seq_len: int, seed: int | None) -> list[Batches]:
    return [Batches(tokens, batch, seq_len, seed=seed, rank=rank, ranks=ranks) for rank in range(ranks)]


def a_pass(batches: list[Batches], epoch: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Tokens and targets that all ranks together read in one pass, in the order of updates and ranks."""
    lengths = {len(of_rank) for of_rank in batches}
    assert len(lengths) == 1
    first = epoch * lengths.pop() + 1
    read = [of_rank.for_update(first + i) for i in range(len(batches[0])) for of_rank in batches]
    tokens, targets = (np.concatenate([pair[i].ravel() for pair in read]) for i in range(2))
    return tokens, targets


@given(tokens=corpora(), ranks=RANKS, batch=BATCH, seq_len=SEQ_LEN)
def test_all_ranks_together_read_the_corpus_in_order(tokens: Tokens, ranks: int, batch: int, seq_len: int) -> None:
    assume(len(tokens) > ranks * batch * seq_len)
    batches = every_rank(tokens, ranks, batch, seq_len, seed=None)
    read, targets = a_pass(batches, epoch=0)
    whole = (len(tokens) - 1) // (ranks * batch * seq_len) * ranks * batch * seq_len
    np.testing.assert_array_equal(read, np.arange(whole))
    np.testing.assert_array_equal(targets, np.arange(1, whole + 1))


@given(tokens=corpora(), ranks=RANKS, batch=BATCH, seq_len=SEQ_LEN, seed=st.integers(0, 99), epoch=st.integers(0, 3))
def test_a_shuffled_pass_reads_each_token_once_and_documents_as_they_are(
    tokens: Tokens, ranks: int, batch: int, seq_len: int, seed: int, epoch: int
) -> None:
    assume(len(tokens) > ranks * batch * seq_len)
    read, targets = a_pass(every_rank(tokens, ranks, batch, seq_len, seed), epoch)
    for ids in (read, targets):
        assert np.unique(ids).size == ids.size
    np.testing.assert_array_equal(read[1:], targets[:-1])
    assert tokens.starts is not None
    starts, ends = set(tokens.starts.tolist()), {*tokens.starts.tolist(), len(tokens)}
    for before, after in zip(read.tolist(), targets.tolist(), strict=True):
        assert after == before + 1 or (before + 1 in ends and after in starts)


@given(tokens=corpora(), seed=st.integers(0, 99))
def test_documents_that_start_in_a_shard_stay_together(tokens: Tokens, seed: int) -> None:
    read, targets = a_pass([Batches(tokens, 1, 1, seed=seed)], epoch=1)
    assert tokens.starts is not None
    order = [int(i) for i in [*read, targets[-1]] if i in tokens.starts]
    shards = np.searchsorted(tokens.shard_ends, order, side="right")
    assert np.count_nonzero(np.diff(shards)) == np.unique(shards).size - 1


def test_a_seed_and_a_pass_give_an_order_of_their_own() -> None:
    tokens = numbered([500, 500, 1], list(range(0, 1001, 10)))
    passes = {
        (seed, epoch): tuple(a_pass([Batches(tokens, 2, 5, seed=seed)], epoch)[0])
        for seed in range(3)
        for epoch in range(3)
    }
    assert len(set(passes.values())) == len(passes)
    again = Batches(tokens, 2, 5, seed=2)
    assert tuple(a_pass([again], 2)[0]) == passes[2, 2]
    assert tuple(a_pass([again], 0)[0]) == passes[2, 0]


def test_an_order_once_given_stays() -> None:
    tokens = numbered([7, 9], [0, 3, 8, 12])
    read, _ = a_pass([Batches(tokens, 1, 5, seed=1)], epoch=0)
    assert read.tolist() == [3, 4, 5, 6, 7, 0, 1, 2, 8, 9, 10, 11, 12, 13, 14]


@pytest.mark.parametrize("ranks", range(1, 9))
def test_no_rank_stops_before_the_others(ranks: int) -> None:
    """Shards that hold 3 updates and a part of a fourth: a loader that cuts each by itself leaves late ranks behind."""
    batch, seq_len = 2, 3
    shard = 3 * ranks * batch * seq_len + (ranks - 2) * batch * seq_len + 1
    tokens = numbered([shard] * 10)
    batches = every_rank(tokens, ranks, batch, seq_len, seed=None)
    assert {len(of_rank) for of_rank in batches} == {(10 * shard - 1) // (ranks * batch * seq_len)}


def test_tokens_and_targets_are_arrays_of_their_own() -> None:
    batches = Batches(numbered([10, 15]), 2, 4)
    for array in batches.for_update(2):
        assert (array.dtype, array.shape, array.flags.c_contiguous) == (np.int32, (2, 4), True)
        array[:] = -1
    assert batches.for_update(2)[0].tolist() == [[8, 9, 10, 11], [12, 13, 14, 15]]


def test_updates_begin_again_at_the_start() -> None:
    batches = Batches(numbered([10, 15]), 2, 4)
    assert len(batches) == 3
    starts = [int(batches.for_update(number)[0][0, 0]) for number in range(1, 6)]
    assert starts == [0, 8, 16, 0, 8]


def test_a_batch_larger_than_the_corpus_says_what_it_needs() -> None:
    with pytest.raises(DataError) as raised:
        Batches(numbered([8]), 2, 4)
    needed = "expected a corpus of at least 2 x 4 tokens and the one that follows (9)"
    assert str(raised.value) == f"batches: {needed}, got 8 tokens"
    with pytest.raises(DataError, match=r"at least 3 x 2 x 4 tokens and the one that follows \(25\), got 24 tokens"):
        Batches(numbered([24]), 2, 4, rank=1, ranks=3)


@pytest.mark.parametrize(("batch", "seq_len"), [(0, 4), (2, -1)])
def test_a_batch_of_no_size_is_refused(batch: int, seq_len: int) -> None:
    with pytest.raises(DataError, match=f"batch and seq_len of at least 1, got {batch} and {seq_len}"):
        Batches(numbered([8]), batch, seq_len)


@pytest.mark.parametrize(("rank", "ranks"), [(2, 2), (-1, 2), (0, 0)])
def test_a_rank_that_is_not_there_is_refused(rank: int, ranks: int) -> None:
    with pytest.raises(DataError, match=f"expected a rank of 0 to {ranks - 1}, got {rank} of {ranks}"):
        Batches(numbered([80]), 1, 1, rank=rank, ranks=ranks)


@pytest.mark.parametrize("starts", [None, [], [1, 5]])
def test_shuffling_needs_to_know_the_documents(starts: list[int] | None) -> None:
    with pytest.raises(DataError, match="shuffling: expected to know where documents start, the first at token 0"):
        Batches(numbered([8], starts), 1, 1, seed=0)


def test_an_update_before_the_first_is_refused() -> None:
    with pytest.raises(IndexError, match="update 0: expected at least 1"):
        Batches(numbered([8]), 1, 1).for_update(0)
