"""Calls on tensors that lie as those of calls before give the same, and are refused as the first one is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bindings import ArgumentError, CaptureError, Library

SUM, PRODUCT = 0, 1
OFTEN = 4  # the third call is the first that is remembered


def arguments(**given: Any) -> dict[str, Any]:
    """The sums of the columns of 2 x 3 numbers."""
    numbers = {
        "input": np.arange(6, dtype=np.float32),
        "output": np.zeros(3, np.float32),
        "shape": np.array([3, 2]),
        "input_strides": np.array([1, 3]),
        "output_strides": np.array([1]),
    }
    return numbers | {"input_offset": 0, "output_offset": 0, "function": SUM, "start": 0.0} | given


@pytest.fixture
def often(stub: Library) -> Library:
    for _ in range(OFTEN):
        stub.reduce_strided(*arguments().values())
    return stub


def test_it_gives_what_the_first_call_gave(often: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(often.reduce_strided, "_carefully", None)
    for k in range(3):
        given = arguments(input=np.arange(k, 6 + k, dtype=np.float32))
        found = often.reduce_strided(*given.values())
        assert found is given["output"]
        assert found.tolist() == [3 + 2 * k, 5 + 2 * k, 7 + 2 * k]


def test_other_numbers_are_told_apart(often: Library) -> None:
    for _ in range(OFTEN):
        for start in (0.0, -0.0, 1.0):
            given = arguments(input=np.ones(6, np.float32), function=PRODUCT, start=start)
            found = often.reduce_strided(*given.values())
            assert found.tolist() == [start] * 3
            assert np.signbit(found).all() == np.signbit(start)
        longer = arguments(shape=np.array([3, 1]), input_strides=np.array([2, 1]))
        assert often.reduce_strided(*longer.values()).tolist() == [0, 2, 4]


def test_what_says_how_tensors_lie_may_be_changed_in_place(often: Library) -> None:
    given = arguments()
    for _ in range(OFTEN):
        often.reduce_strided(*given.values())
    given["input_strides"][:] = (2, 1)
    assert often.reduce_strided(*given.values()).tolist() == [1, 5, 9]


_SIZES = np.array([3, 2, 0, 0])
_BOTH = np.zeros(9, np.float32)
_PAIR = np.array([3, 2])
_READ_ONLY = np.zeros(3, np.float32)
_READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"input": np.zeros(5, np.float32)}, "every element inside its 5 places"),
        ({"input": np.zeros(6)}, "float32"),
        ({"input": np.zeros(12, np.float32)[::2]}, "C-contiguous|strides|dense"),
        ({"output": np.zeros(2, np.float32)}, "every element inside its 2 places"),
        ({"output": _READ_ONLY}, "writ"),
        ({"input": _BOTH[:6], "output": _BOTH[5:8]}, "arrays that overlap"),
        ({"input": _BOTH[:6], "output": _BOTH}, "arrays that overlap"),
        ({"input": _BOTH, "output": _BOTH[5:8]}, "arrays that overlap"),
        ({"shape": _PAIR, "output": _PAIR.view(np.float32)[:3]}, "arrays that overlap"),
        ({"shape": _SIZES[:2], "output": _SIZES.view(np.float32)[:3]}, "arrays that overlap"),
        ({"shape": np.array([3, 2], np.int32)}, "int64"),
        ({"shape": np.array([[3, 2]])}, "shape"),
        ({"function": "sum"}, "function"),
        ({"start": "0"}, "start"),
    ],
    ids=lambda given: given if isinstance(given, str) else next(iter(given)),
)
def test_what_is_wrong_is_refused_as_ever(often: Library, wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        often.reduce_strided(*arguments(**wrong).values())


def test_nothing_is_done_while_a_graph_is_captured(often: Library) -> None:
    given = arguments()
    with pytest.raises(CaptureError, match="DeviceArrays during a capture"), often.capture():
        often.reduce_strided(*given.values())
    assert not given["output"].any()


def test_two_inputs(stub: Library) -> None:
    """Either of which may overlap with the output."""
    lies = {"shape": np.array([3]), **{f"{x}_strides": np.array([1]) for x in ("a", "b", "output")}}
    offsets = {f"{x}_offset": 0 for x in ("a", "b", "output")}
    arrays = {"a": np.ones(3, np.float32), "b": np.ones(3, np.float32), "output": np.zeros(3, np.float32)}
    for _ in range(OFTEN):
        assert stub.zip_strided(*(arrays | lies | offsets | {"function": 0}).values()).tolist() == [2, 2, 2]
    for name in ("a", "b"):
        with pytest.raises(ArgumentError, match="arrays that overlap"):
            stub.zip_strided(*(arrays | {name: arrays["output"]} | lies | offsets | {"function": 0}).values())
