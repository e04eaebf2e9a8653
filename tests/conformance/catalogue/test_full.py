"""The records of full-size calls: every operation has one, at sizes of the full model, laid out in no order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.catalogue.cases.data import Draw
from conformance.catalogue.full import FULL, FullCall, table
from conformance.catalogue.full.layout import laid_out
from conformance.catalogue.full.places import Places, shuffled
from conformance.catalogue.full_model import EXPERTS, FFN, HEAD_DIM, HIDDEN, MODEL, Q_HEADS, TOP_K, VOCAB
from conformance.operations import OPERATIONS, base_of
from tests.conformance.shrunk import shrunk

CALLS = [pytest.param(shrunk(call), id=id) for id, call in FULL.items()]


def test_every_operation_has_a_call_at_full_size() -> None:
    assert {call.operation for call in FULL.values()} == {*OPERATIONS}
    assert [*FULL] == [call.id for call in FULL.values()]


def test_every_size_of_the_model_stands_in_a_call() -> None:
    found = {value for call in FULL.values() for value in call.sizes.values() if isinstance(value, int)}
    assert found >= {VOCAB, HIDDEN, FFN, EXPERTS, TOP_K, Q_HEADS, HEAD_DIM, MODEL.kv_heads, 256, 4096, 8192}


def test_a_sixteen_bit_form_is_called_as_its_operation_is() -> None:
    for id, call in FULL.items():
        if call.operation != base_of(call.operation) and not call.operation.startswith(("cast", "multi_adamw")):
            assert call.sizes == FULL[id.replace(call.operation, base_of(call.operation))].sizes


def test_two_calls_with_one_id(monkeypatch: pytest.MonkeyPatch) -> None:
    call = FULL["full/silu"]
    monkeypatch.setattr(table.rows, "CALLS", (call, call))
    with pytest.raises(ValueError, match="two calls at full size are called full/silu"):
        table.calls()


@pytest.mark.parametrize("call", CALLS)
def test_a_call_is_the_same_for_the_same_seed(call: FullCall) -> None:
    first, again, other = (call.draw(seed).whole() for seed in (0, 0, 1))
    arrays = [name for name, value in first.items() if not isinstance(value, (int, float))]
    assert all(np.array_equal(_flat(first[name]), _flat(again[name]), equal_nan=True) for name in arrays)
    # angles, and memory that is not read, are the same in every draw
    differs = [name for name in arrays if not np.array_equal(_flat(first[name]), _flat(other[name]), equal_nan=True)]
    assert differs or call.operation in ("rope_freqs", "zero_grad")


def _flat(value: Any) -> Any:
    return np.concatenate([one.reshape(-1) for one in value]) if isinstance(value, list) else value.reshape(-1)


@pytest.mark.parametrize("factors", ["", "+", "+-"])
def test_members_stand_in_no_order_and_each_stands_somewhere(factors: str) -> None:
    places = shuffled(Draw(3), 5000, 61, factors)
    assert places.counts.min() > 0
    assert places.counts.sum() == 5000
    # no distance at which places repeat themselves
    assert all(np.mean(places.member[step:] == places.member[:-step]) < 0.5 for step in (1, 61, 64, 128, 1024, 4096))
    for number in range(3):
        one = places.one_of_each(Draw(number))
        assert np.array_equal(places.member[one], np.arange(61))
        start = places.member.size - int(Draw(number).integers(0, places.member.size, (1,))[0])
        turned = np.roll(places.member, -start)  # ends where the search begins
        last = [np.flatnonzero(turned == member)[-1] for member in range(61)]
        assert np.array_equal((np.array(last) + start) % 5000, one)
    factor = places.factor
    assert (factor is None) is (factors == "")
    if factor is not None:
        assert {*np.abs(factor)} == {1.0, 2.0, 4.0}
        assert bool(factor.min() < 0) is (factors == "+-")


def test_a_member_that_stands_far_away_is_found() -> None:
    places = Places(np.array([2, *[0] * 30_000, 1, *[0] * 30_000]))
    for number in range(5):
        assert places.member[places.one_of_each(Draw(number))].tolist() == [0, 1, 2]


def test_an_array_is_laid_out_along_every_axis_that_is_drawn() -> None:
    small = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], np.float32)
    places = {
        "M": Places(np.array([1, 0, 1]), np.array([2.0, 1.0, -4.0], np.float32)),
        "N": Places(np.array([0, 2])),
    }
    whole = laid_out(small, ("M", "N"), places, ("M", "N"))
    assert np.asarray(whole).tolist() == [[8.0, 12.0], [1.0, 3.0], [-16.0, -24.0]]
    shorter = np.asarray(whole.astype(np.float16))
    assert shorter.dtype == np.float16
    assert shorter.tolist() == np.asarray(whole).tolist()
    by_rows = np.asarray(laid_out(small, ("M", "K"), places))
    assert by_rows.tolist() == [[4.0, 5.0, 6.0], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    for most in (4, 8, 16, 1 << 20):  # an element, a part of a row, more than one row, all of it
        assert np.concatenate([block.reshape(-1) for block in whole.blocks(most)]).tolist() == np.ravel(whole).tolist()
