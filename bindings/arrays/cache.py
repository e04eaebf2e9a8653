"""Memory kept for the next array: what is given back is handed out again, in the order of its stream."""

from __future__ import annotations

import contextlib
import threading
from collections import defaultdict
from typing import Any, NamedTuple

from bindings.errors import BindingError, CallError

from .space import Space

_SMALLEST, _STEPS = 512, 8  # bytes; size classes between a power of two and the next


class Statistics(NamedTuple):
    """Bytes: in arrays that live, taken from the device for them and for later ones, the most that were in use."""

    in_use: int
    reserved: int
    peak: int


class Pool:
    """Free memory by stream and size; a closed one is used up, and what comes back to it goes to the cache's own."""

    def __init__(self) -> None:
        self.free: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
        self.closed = False


class _Returned(NamedTuple):
    pool: Pool
    address: int
    size: int
    stream: int
    users: set[int]


class Block:
    """Memory of one array and its views; goes back to its cache with the last of them."""

    __slots__ = ("address", "cache", "pool", "size", "stream", "users")

    def __init__(self, cache: Cache, pool: Pool, address: int, size: int, stream: int) -> None:
        self.cache, self.pool, self.address, self.size, self.stream = cache, pool, address, size, stream
        self.users: set[int] = set()  # other streams that were given it

    def __del__(self) -> None:
        self.cache.give(self)


class Cache:
    """Hands out blocks of a space.

    A block that is given back may still be read by work on its stream; so the next array on that stream gets it at
    once, work there being done in order, and one on another stream never.  Nothing waits.
    """

    def __init__(self, space: Space) -> None:
        self._space, self._lock = space, threading.RLock()
        self._own = self._active = Pool()
        self.streams: list[Any] = []  # whose work memory was given to: they live as long as this does
        self._in_use = self._reserved = self._peak = 0
        self._held: list[_Returned] | None = None

    def take(self, size: int, stream: int) -> Block:
        """Return a block of at least so many bytes.  Raises CallError with the sizes where there is no memory."""
        rounded = size_class(size)
        with self._lock:
            pool = self._active
            kept = pool.free[stream, rounded] or self._own.free[stream, rounded]
            at = kept.pop() if kept else self._reserve(rounded)
            self._in_use += rounded
            self._peak = max(self._peak, self._in_use)
        return Block(self, pool, at, rounded, stream)

    def _reserve(self, size: int) -> int:
        try:
            at = self._space.allocate(size)
        except (CallError, MemoryError):
            if self._held is None:  # a stream that is captured cannot be waited for
                self.empty()
            at = self._last_try(size)
        self._reserved += size
        return at

    def _last_try(self, size: int) -> int:
        try:
            return self._space.allocate(size)
        except (CallError, MemoryError) as error:
            code, meaning = getattr(error, "code", -3), getattr(error, "meaning", "ASSAYER_NO_MEMORY")
            sizes = f"{size:,} bytes asked for, {self._in_use:,} in use, {self._reserved - self._in_use:,} cached"
            raise CallError("allocate", code, f"{meaning}; {sizes}") from error

    def give(self, block: Block) -> None:
        """Take a block back: it is handed out again only behind the work that it was given to."""
        with self._lock:
            self._in_use -= block.size
            pool = self._own if block.pool.closed else block.pool
            returned = _Returned(pool, block.address, block.size, block.stream, block.users)
            if self._held is not None and block.users:
                self._held.append(returned)
                return
        self._keep(returned)

    def _keep(self, returned: _Returned) -> None:
        for user in returned.users:
            self._space.order(user, returned.stream)
        with self._lock:
            returned.pool.free[returned.stream, returned.size].append(returned.address)

    def hold(self) -> None:
        """Let no stream wait for another, as one that is captured cannot, until `settle`."""
        self._held = []

    def settle(self) -> None:
        """Keep what was given back meanwhile."""
        held, self._held = self._held or [], None
        for returned in held:
            self._keep(returned)

    def empty(self) -> None:
        """Give what no array uses back to the device.  Waits for the streams it was used on."""
        with self._lock:
            for stream in {stream for (stream, _), kept in self._own.free.items() if kept}:
                self._space.synchronize(stream)
            for (_, size), kept in self._own.free.items():
                while kept:
                    self._space.free(kept.pop())
                    self._reserved -= size

    def take_from(self, pool: Pool | None) -> None:
        """Hand out memory as this pool's own, until it is None: what a graph's arrays lie in must stay the graph's."""
        self._active = pool or self._own

    def close(self, pool: Pool) -> None:
        """Add what a pool holds, and what comes back to it, to the cache's own."""
        with self._lock:
            pool.closed = True
            for key, kept in pool.free.items():
                self._own.free[key] += kept
            pool.free.clear()

    @property
    def statistics(self) -> Statistics:
        return Statistics(self._in_use, self._reserved, self._peak)

    def reset_peak(self) -> None:
        self._peak = self._in_use

    def __del__(self) -> None:
        with contextlib.suppress(BindingError):
            self.empty()


def size_class(size: int) -> int:
    """Round up to one of eight sizes between a power of two and the next: an eighth is wasted at most, or 511 bytes."""
    step = max(_SMALLEST, (1 << (size - 1).bit_length()) // (2 * _STEPS))
    return -(-size // step) * step
