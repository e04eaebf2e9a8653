from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.training.corpora import corpora, numbered
from training.data import Batches, DataError, Loader

if TYPE_CHECKING:
    from training.data import Tokens


@given(
    tokens=corpora(),
    ranks=st.integers(1, 5),
    shape=st.tuples(st.integers(1, 3), st.integers(1, 4)),
    seed=st.none() | st.integers(0, 9),
    before=st.integers(0, 30),
    data=st.data(),
)
def test_a_resumed_loader_gives_what_one_never_stopped_gives(
    tokens: Tokens, ranks: int, shape: tuple[int, int], seed: int | None, before: int, data: st.DataObject
) -> None:
    assume(len(tokens) > ranks * shape[0] * shape[1])
    rank = data.draw(st.integers(0, ranks - 1))
    never_stopped, resumed = (Loader(Batches(tokens, *shape, seed=seed, rank=rank, ranks=ranks)) for _ in range(2))
    for _ in islice(never_stopped, before):
        pass
    resumed.resume(json.loads(json.dumps(never_stopped.state())))
    assert resumed.epoch == never_stopped.epoch
    for expected, given_ in islice(zip(never_stopped, resumed, strict=True), 10):
        np.testing.assert_array_equal(expected, given_)
    assert resumed.state() == never_stopped.state()


def loader(**other: Any) -> Loader:
    settings = {"tokens": numbered([30, 30], [0, 20]), "batch": 2, "seq_len": 3, "seed": 1, "ranks": 2}
    return Loader(Batches(**(settings | other)))


def test_the_state_is_small_and_of_no_rank() -> None:
    zero, one = loader(), loader(rank=1)
    next(zero), next(one)
    assert zero.state() == one.state()
    assert len(json.dumps(zero.state())) < 250


@pytest.mark.parametrize(
    ("other", "named"),
    [
        ({"tokens": numbered([30, 31], [0, 20])}, "data"),
        ({"tokens": numbered([31, 29], [0, 20])}, "data"),
        ({"tokens": numbered([30, 30], [0, 21])}, "data"),
        ({"ranks": 3}, "ranks"),
        ({"batch": 3}, "batch"),
        ({"seq_len": 2}, "seq_len"),
        ({"seed": 2}, "seed"),
        ({"seed": None}, "seed"),
    ],
)
def test_a_state_of_other_batches_is_refused_by_name(other: dict[str, Any], named: str) -> None:
    theirs, ours = loader(**other).state(), loader()
    with pytest.raises(DataError) as raised:
        ours.resume(theirs)
    had, has = theirs[named], ours.state()[named]
    assert str(raised.value) == f"loader state: {named}: this loader has {has}, the state is of {had}"


@pytest.mark.parametrize("updates", [-1, 1.0, "1", None, True])
def test_a_state_that_counts_no_updates_is_refused(updates: Any) -> None:
    with pytest.raises(DataError, match="updates: expected a whole number of at least 0, got"):
        loader().resume({**loader().state(), "updates": updates})


def test_a_state_with_other_entries_is_refused() -> None:
    state = loader().state()
    del state["seed"]
    with pytest.raises(
        DataError, match="expected format, data, ranks, batch, seq_len, seed, updates, got format, data,"
    ):
        loader().resume(state)
