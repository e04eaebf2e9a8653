"""What a library's arrays share: their space, the cache they come from, and the stream their work is on."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np

from bindings.errors import ArgumentError, ArgumentTypeError, CallError, CaptureError
from bindings.shared_object.facts import Facts
from bindings.shared_object.foreign import address, from_buffer, pointer
from bindings.shared_object.services import Services

from . import dlpack, take
from .array import DeviceArray, on_host
from .cache import Block, Cache, Statistics
from .home import Capture
from .space import DeviceSpace, HostSpace, Space

__all__ = ["Memory", "Statistics"]


class Memory:
    """`library.memory`: where its DeviceArrays lie.  Statistics are those of the caching allocator."""

    def __init__(self, services: Services, facts: Facts, stream: int) -> None:
        self.space: Space = DeviceSpace(services, facts.described) if facts.on_device else HostSpace()
        self.device = _device(facts)
        self.cache = Cache(self.space)
        self.use(stream)
        self._in_flight: defaultdict[int, list[Any]] = defaultdict(list)  # host arrays that a stream may still read
        self.capture: Capture | None = None  # the one under way
        self.called: deque[str] = deque(maxlen=4)  # operations that were not waited for, the last of them

    def use(self, stream: int) -> None:
        """Let the work to come be on this stream."""
        self.stream, self.stream_pointer = stream, pointer(stream)

    def empty(self, shape: tuple[int, ...], dtype: Any) -> DeviceArray:
        """Return an array of unknown contents.  Raises CallError, with the sizes, where there is no memory."""
        kind: np.dtype[Any] = np.dtype(dtype)
        block = self.cache.take(max(1, prod(shape) * kind.itemsize), self.stream)
        return DeviceArray(self, block.address, tuple(shape), kind, block)

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> DeviceArray:
        array, stream = self.empty(shape, dtype), self.stream
        at, size = array.address, array.nbytes
        self._ask(lambda: self.space.clear(at, size, stream), array)
        return array

    def _ask(self, call: Callable[[], None], *arrays: DeviceArray) -> None:
        """Make a call on arrays, or leave it to the capture under way."""
        if not arrays[0].nbytes:
            return
        if self.capture is not None:
            self.capture.ask(call, *arrays)
            return
        for array in arrays:
            self.touch(array.owner)
        call()

    def touch(self, owner: Any) -> None:
        """Note that the work to come uses an owner's memory, which on another stream than its own must outlast that."""
        if type(owner) is Block and owner.stream != self.stream:
            owner.users.add(self.stream)

    def _not_captured(self, call: str) -> None:
        if self.capture is not None:
            raise CaptureError(call, "no values to come from or go to the host during a capture", "that")

    def array(self, source: Any) -> DeviceArray:
        """Return the source as a DeviceArray: see Library.array."""
        if isinstance(source, DeviceArray):
            if source.memory.device != self.device:
                raise ArgumentError(
                    "array", "source", f"an array on {self.space.name}", f"one on {source.memory.space.name}"
                )
            return source
        if not isinstance(source, np.ndarray):
            return take.foreign(self, source)
        take.check_host(source)
        if not self.space.on_device:
            at = address(from_buffer(source))
            return DeviceArray(self, at, source.shape, source.dtype, source, source.flags.writeable)
        if self.capture is not None:
            with self.capture.aside():
                return self.array(source)
        array = self.empty(source.shape, source.dtype)
        self.overwrite(array, source)
        return array

    def overwrite(self, array: DeviceArray, source: Any) -> None:
        """Copy host or device values into an array, in the order of the stream."""
        if not isinstance(source, np.ndarray | DeviceArray):
            expected = f"a {array.dtype} array of shape {array.shape}"
            raise ArgumentTypeError("copy_from", "source", expected, type(source).__name__)
        if source.shape != array.shape or source.dtype != array.dtype:
            expected = f"{array.dtype} of shape {array.shape}"
            raise ArgumentError("copy_from", "source", expected, f"{source.dtype} of shape {source.shape}")
        if not array.flags.writeable:
            raise ArgumentError("copy_from", "array", "one that can be written", "a read-only one")
        if isinstance(source, np.ndarray):
            take.check_host(source)
            self._not_captured("copy_from")
            self._in_flight[self.stream].append(source)
            at = address(from_buffer(source)) if source.size else 0
        else:
            at = source.address
        others, stream = [source] if isinstance(source, DeviceArray) else [], self.stream
        to, size = array.address, array.nbytes
        self._ask(lambda: self.space.copy(to, at, size, stream), array, *others)

    def to_host(self, array: DeviceArray) -> Any:
        """Wait, and return the values; on host memory they are not copied, and the NumPy array keeps them alive."""
        self._not_captured("to_host")
        if not self.space.on_device:
            return on_host(array)
        self.touch(array.owner)
        host = np.empty(array.shape, array.dtype)
        with self._naming_calls():
            if array.nbytes:
                self.space.copy(address(from_buffer(host)), array.address, array.nbytes, self.stream)
        self.synchronize()
        return host

    def synchronize(self) -> None:
        """Wait for the work on the stream.  Raises CallError for what went wrong in any of it."""
        self._not_captured("synchronize")
        with self._naming_calls():
            self.space.synchronize(self.stream)
        self._in_flight.pop(self.stream, None)
        self.called.clear()

    @contextmanager
    def _naming_calls(self) -> Iterator[None]:
        """Add to an error the calls that it may be of: an earlier one's shows when the host waits."""
        try:
            yield
        except CallError as error:
            calls = f"; the last calls before it: {', '.join(self.called)}" if self.called else ""
            raise CallError(error.operation, error.code, error.meaning + calls) from None

    def before(self, stream: Any) -> None:
        """Let the work to come on a consumer's stream wait for that on this one; None: the default stream, -1: none."""
        if self.space.on_device and stream != -1:
            self.space.order(self.stream, 1 if stream is None else int(stream))

    @property
    def statistics(self) -> Statistics:
        """Bytes in use, reserved, and the most that were in use."""
        return self.cache.statistics


def _device(facts: Facts) -> tuple[int, int]:
    """DLPack's name for where the arrays lie."""
    if not facts.on_device:
        return dlpack.CPU, 0
    return (dlpack.CUDA if facts.compute_capability and not facts.emulated else dlpack.OTHER), 0
