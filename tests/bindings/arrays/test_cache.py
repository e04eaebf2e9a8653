"""The caching allocator: what is kept, handed out again, given back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bindings import CallError, Library
from bindings.arrays.cache import Cache, size_class
from bindings.arrays.space import HostSpace
from tests.compiler import compile_device


class Counting(HostSpace):
    """Host memory that counts what is asked of it."""

    def __init__(self) -> None:
        super().__init__()
        self.allocated = self.freed = 0
        self.waited: list[int] = []
        self.ordered: list[tuple[int, int]] = []

    def allocate(self, size: int) -> int:
        self.allocated += 1
        return super().allocate(size)

    def free(self, at: int) -> None:
        self.freed += 1
        super().free(at)

    def synchronize(self, stream: int) -> None:
        self.waited.append(stream)

    def order(self, first: int, then: int) -> None:
        self.ordered.append((first, then))


@given(st.integers(1, 2**60))
def test_size_classes(size: int) -> None:
    assert size <= size_class(size) <= size + max(511, size // 8)
    assert size_class(size_class(size)) == size_class(size)
    assert size_class(size) % 512 == 0


def test_memory_is_used_again_on_its_own_stream_only() -> None:
    cache = Cache(space := Counting())
    address = cache.take(1000, stream=0).address
    assert cache.statistics == (0, 1024, 1024)
    again = cache.take(1024, stream=0)
    assert again.address == address
    other = cache.take(1000, stream=7)
    assert other.address != address
    del again
    assert cache.take(1000, stream=7).address != address
    assert (space.allocated, space.waited, space.ordered) == (3, [], [])
    del other


def test_memory_used_on_another_stream_is_ordered_behind_it() -> None:
    cache = Cache(space := Counting())
    block = cache.take(1, stream=1)
    block.users.add(2)
    del block
    assert space.ordered == [(2, 1)]


def test_the_cache_is_emptied_and_counted() -> None:
    cache = Cache(space := Counting())
    held = cache.take(512, 0)
    blocks = [cache.take(600, 3), cache.take(5000, 3)]
    assert cache.statistics == (512 + 1024 + 5120, 512 + 1024 + 5120, 512 + 1024 + 5120)
    del blocks
    cache.empty()
    assert space.waited == [3]
    assert cache.statistics == (512, 512, 512 + 1024 + 5120)
    cache.reset_peak()
    assert cache.statistics.peak == 512
    del held, cache
    assert space.allocated == space.freed == 3


def test_without_memory_the_cache_is_emptied_first(tmp_path: Path) -> None:
    library = Library(compile_device(tmp_path, "small", "-DLIMIT=10000"))
    library.memory.empty((2000,), np.float32)  # 8000 bytes, given back at once
    kept = library.memory.empty((1500,), np.float32)
    assert library.memory.statistics.reserved == 6144
    with pytest.raises(
        CallError,
        match=r"allocate: the library returned -3: ASSAYER_NO_MEMORY; 8,192 bytes asked for, 6,144 in use, 0 cached",
    ):
        library.memory.empty((2000,), np.float32)
    del kept
    assert library.memory.empty((2000,), np.float32).nbytes == 8000
