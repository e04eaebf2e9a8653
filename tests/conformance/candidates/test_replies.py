"""What a worker's process replies is data: no bytes of it run, and what no worker sends is told as that."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bindings import Facts
from conformance.candidates.worker.replies import GarbledError, pack, pack_value, unpack, unpack_value
from conformance.candidates.worker.rounds import Held

JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=8)
REQUESTS = ("restrict", "open", "place", "forget", "run", "repeat", "go_on", "together", "reached", "call")


class Opens:
    """What opens a file where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> object:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize(
    ("request_", "status", "value"),
    [
        ("restrict", "restricted", ["the network"]),
        ("open", "ready", (1 << 46, Facts(on_device=True, devices=1))),
        ("open", "refused", ("NoDevice", "none here")),
        ("place", "done", [4096, 1 << 46]),
        ("forget", "done", None),
        ("run", "done", ([0, 0, -2], ("ValueError: no", ""))),
        ("run", "raised", "a \udcff text"),
        ("run", "missing", None),
        ("repeat", "done", ((7, 0, False, [Held(1, 2, 3), Held(4, 5, 6)], 3, True, False), ["the locale"])),
        ("go_on", "done", ((7, 0, False, [Held(1, 2, 3)], 3, False, True), [])),
        ("together", "done", ([3, 4], (1, 2, 0, True))),
        ("together", "done", ([3, 4], None)),
        ("reached", "done", None),
    ],
)
def test_a_reply_comes_as_it_was_sent(request_: str, status: str, value: object) -> None:
    assert unpack(request_, pack(status, value)) == (status, value)


def test_numbers_that_json_has_no_words_for_come_too() -> None:
    _, (places, comparisons) = unpack("reached", pack("done", ([1], [(1.0, np.inf, np.nan)])))
    assert (places, comparisons[0][:2]) == ([1], (1.0, np.inf))
    assert np.isnan(comparisons[0][2])


@given(st.sampled_from(REQUESTS), st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
def test_whatever_else_comes_is_garbled(request_: str, reply: bytes) -> None:
    try:
        status, _ = unpack(request_, reply)
    except GarbledError:
        return
    assert status in {"done", "ready", "restricted", "raised", "missing", "refused"}


@given(JSON, JSON)
def test_what_is_of_another_type_than_its_request_has_is_garbled(first: object, second: object) -> None:
    with pytest.raises(GarbledError):
        unpack("run", pack("done", [first, second, 0]))


def test_deep_nesting_is_garbled() -> None:
    with pytest.raises(GarbledError):
        unpack("run", b"[" * 100_000)


def test_a_pickle_is_never_read(tmp_path: Path) -> None:
    for bytes_ in (pickle.dumps(Opens(tmp_path / "reply")), pickle.dumps(("done", Opens(tmp_path / "reply")))):
        with pytest.raises(GarbledError):
            unpack("call", bytes_)
        with pytest.raises(GarbledError):
            unpack_value(bytes_)
    assert not (tmp_path / "reply").exists()


@given(st.binary())
def test_a_value_that_is_none_is_garbled(document: bytes) -> None:
    with pytest.raises(GarbledError):
        unpack_value(document)


def test_a_value_comes_as_it_was_sent() -> None:
    value = {"x": np.arange(6, dtype=np.float32).reshape(2, 3), "more": [1, 2.5, None, ("a",)]}
    got = unpack_value(pack_value(value))
    assert got["more"] == value["more"]
    np.testing.assert_array_equal(got["x"], value["x"])
