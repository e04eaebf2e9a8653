"""Formulas evaluated piece by piece: each piece once, in every thread, and what a thread raises."""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np
import pytest

from reference.ops import blocks


@pytest.mark.parametrize(
    ("asked", "threads"), [("3", 3), ("1", 1), ("0", 1), ("", os.cpu_count()), ("2,1", os.cpu_count())]
)
def test_as_many_threads_as_are_asked_for(asked: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    assert blocks.threads() == threads


@pytest.fixture
def three_threads(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    blocks._pool.cache_clear()
    yield
    blocks._pool.cache_clear()


@pytest.mark.usefixtures("three_threads")
def test_every_thread_takes_a_part() -> None:
    meeting = threading.Barrier(3, timeout=60)

    def task(item: int) -> tuple[int, int]:
        if item < 3:
            meeting.wait()  # which ends where three are at work at once
        return item * item, threading.get_ident()

    done = blocks.each(task, range(10))
    assert [square for square, _ in done] == [item * item for item in range(10)]
    assert len({thread for _, thread in done}) == 3


@pytest.mark.usefixtures("three_threads")
def test_work_within_a_share_stays_in_its_thread() -> None:
    def inner(_: int) -> int:
        return threading.get_ident()

    shares = blocks.each(lambda _: (threading.get_ident(), blocks.each(inner, range(4))), range(6))
    assert all(set(within) == {thread} for thread, within in shares)


@pytest.mark.parametrize(("threads", "worthwhile"), [("3", False), ("1", True)])
def test_no_thread_is_woken_where_it_is_not_worthwhile(
    threads: str, worthwhile: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    monkeypatch.setattr(blocks, "_pool", None)  # whoever asks for one fails
    assert blocks.each(lambda item: item + 1, range(4), worthwhile) == [1, 2, 3, 4]


@pytest.mark.usefixtures("three_threads")
def test_what_a_thread_raises_is_raised() -> None:
    meeting = threading.Barrier(3, timeout=60)

    def task(_: int) -> None:
        meeting.wait()
        if threading.current_thread() is not threading.main_thread():
            raise KeyError("in a thread")

    with pytest.raises(KeyError, match="in a thread"):
        blocks.each(task, range(3))


@pytest.mark.usefixtures("three_threads")
def test_numpy_warns_in_a_thread_as_it_does_outside() -> None:
    big = np.full(2, 3e38, np.float32)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        blocks.each(lambda _: big * big, range(3))
    with np.errstate(over="ignore"):
        assert np.isinf(blocks.each(lambda _: big * big, range(3))).all()


@pytest.mark.usefixtures("three_threads")
def test_a_large_product_is_that_of_its_shares() -> None:
    A = np.arange(401 * 130).reshape(401, 130) % 7 - 3.0
    B = np.arange(130 * 90).reshape(130, 90) % 5 - 2.0  # whole numbers, whose sums are exact in any order
    assert A.size * B.shape[1] > blocks.SHARED_PRODUCT
    np.testing.assert_array_equal(blocks.product(A, B), A @ B)
