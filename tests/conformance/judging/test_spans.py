"""Where outputs are wrong, from several cases together: what chance would do as well is not said."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from conformance.judging.spans import Span, joined, spans

SIZES = (5, 33, 127, 1025, 4099)


def along(size: int, wrong: Callable[[NDArray[np.int64]], NDArray[np.bool_]]) -> Span:
    [found] = spans(wrong(np.arange(size)))
    return found


def test_a_span_is_measured_along_every_axis() -> None:
    bad = np.zeros((4, 9), bool)
    bad[3, 2::3] = True
    assert spans(bad) == (Span(3, 3, 1, 0, 4), Span(2, 8, 3, 3, 9))
    assert spans(np.zeros((2, 2), bool)) == ()
    assert all(span.is_whole for span in spans(np.ones((2, 2), bool)))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda size: lambda i: i == size - 1, "the last column"),
        (lambda size: lambda i: i >= size // 4 * 4, "columns past the last whole 4"),
        (lambda size: lambda i: i >= 4, "columns from 4 on"),
        (lambda size: lambda i: i < 3, "columns up to 2"),
        (lambda size: lambda i: i % 3 == 1, "every 3rd column from 1 on"),
        (lambda size: lambda i: i >= 0, ""),
    ],
)
def test_what_holds_in_every_case_is_said(wrong: Callable[..., Callable[..., NDArray[np.bool_]]], said: str) -> None:
    assert joined([along(size, wrong(size)) for size in SIZES], "column") == said


def test_the_last_of_every_block_is_no_run_from_the_first_one_on() -> None:
    found = [along(size, lambda i: i % 64 == 63) for size in (65, 128, 200, 257)]
    assert joined(found, "seq_len") == "every 64th seq_len from 63 on"
    assert joined([along(80, lambda i: i == 63), along(500, lambda i: i >= 63)], "row") == "rows from 63 on"


def test_what_holds_in_one_case_alone_is_not_said() -> None:
    halves = [along(64, lambda i: i >= 32), along(64, lambda i: i < 32)]
    assert joined(halves[:1], "row") == "rows from 32 on"
    assert joined(halves, "row") == ""


def test_one_element_that_may_stand_there_by_chance_says_nothing() -> None:
    assert joined([along(8, lambda i: i == 7)], "element") == ""
    assert joined([along(8, lambda i: i == 5)], "element") == ""
    assert joined([along(4096, lambda i: i == 4095)], "element") == "the last element"
