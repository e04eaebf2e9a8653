"""Formulas evaluated piece by piece: each piece once, in every thread, and what a thread raises."""

from __future__ import annotations

import os
import subprocess
import sys
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


def pieces_of(shapes: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """How many rows of each array a formula is given at once, piece by piece."""
    seen: list[tuple[int, ...]] = []

    def formula(*arrays: Any) -> Any:
        seen.append(tuple(len(array) for array in arrays))
        return arrays[0] + 1.0

    arrays = [np.arange(np.prod(shape), dtype=float).reshape(shape) for shape in shapes]
    np.testing.assert_array_equal(blocks.by_rows(formula, *arrays), arrays[0] + 1.0)
    return sorted(seen, reverse=True)


@pytest.mark.parametrize(
    ("shapes", "rows"),
    [
        ([(4, 16)], [4]),
        ([(5, 16)], [4, 1]),
        ([(10, 16)], [4, 4, 2]),
        ([(10, 4), (10, 2, 8)], [4, 4, 2]),  # the largest array decides
        ([(3, 65)], [1, 1, 1]),  # a row is never cut
        ([(0, 16)], [0]),
        ([(7, 0)], [7]),
    ],
)
def test_rows_are_evaluated_in_blocks(
    shapes: list[tuple[int, ...]], rows: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 64)
    assert pieces_of(shapes) == [(length,) * len(shapes) for length in rows]


def test_several_results_have_their_own_shapes_and_types(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 64)
    x = np.arange(160.0).reshape(10, 16)
    whole = x, x[:, :3].astype(np.float32), x[:, 0] > 70
    got = blocks.by_rows(lambda x: (x, x[:, :3].astype(np.float32), x[:, 0] > 70), x)
    for one, other in zip(got, whole, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


class Watched(np.ndarray):
    """An array class of somebody else."""


def test_what_is_no_plain_array_is_evaluated_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 64)
    x = np.arange(160.0).reshape(10, 16).view(Watched)
    assert type(blocks.by_rows(lambda x: x + 1.0, x)) is Watched
    seen = []

    def formula(old: Any, out: Any = "no memory") -> Any:
        seen.append((old.shape, out))
        return (old + 1.0,)

    [new] = blocks.updated(formula, (x,))
    assert type(new) is Watched
    assert seen == [((10, 16), "no memory")]


def test_an_update_is_evaluated_in_blocks_into_new_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 64)
    old, other, lengths = np.arange(130.0).reshape(13, 10), np.ones((13, 10), np.float32), []

    def formula(a: Any, b: Any, c: Any, out: Any) -> None:
        lengths.append((a.size, b.size, c.size))
        np.add(a, c, out=out[0])
        np.subtract(b, c, out=out[1])

    more, less = blocks.updated(formula, (old, old.astype(np.float32)), other)
    assert sorted(lengths) == [(2,) * 3, (64,) * 3, (64,) * 3]
    np.testing.assert_array_equal(more, old + 1)
    np.testing.assert_array_equal(less, old - 1)
    assert (more.dtype, less.dtype) == (np.float64, np.float32)
    assert not np.shares_memory(more, old)


def test_elements_keep_their_shape_in_one_result_and_in_several() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    np.testing.assert_array_equal(blocks.by_elements(lambda x: x + 1.0, x), x + 1.0)
    for got, expected in zip(blocks.by_elements(lambda x: (x, -x), x), (x, -x), strict=True):
        np.testing.assert_array_equal(got, expected)


FORKED = """
import os
import subprocess
import sys
from threading import Barrier
from reference.ops.blocks import each

def together():
    both = Barrier(2)
    each(lambda _: both.wait(20), range(2))  # one thread alone would wait in vain

together()
child = os.fork()
if not child:
    together()
    os._exit(0)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_forked_child_has_threads_of_its_own() -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", FORKED], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
