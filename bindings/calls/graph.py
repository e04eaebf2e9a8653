"""Graphs: the calls of a step, captured once and launched as often as wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Literal

from bindings.arrays import DeviceArray, Memory
from bindings.arrays.cache import Block, Pool
from bindings.errors import BindingError, CallError, CaptureError, MissingSymbol
from bindings.header.records import Function
from bindings.shared_object.services import Services

State = Literal["empty", "capturing", "ready"]
_CANNOT = {-1, -4}  # ASSAYER_UNAVAILABLE, ASSAYER_UNSUPPORTED


class Graph:
    """What is asked of a library between `begin` and `end` is not done but recorded; each `launch` does it all.

    Numbers and arrays are those of the capture: new values are written into the same arrays (`copy_from`) before a
    launch; host arrays that are placed during the capture are constants of the graph.  A call with a number that
    changes from step to step (MOVING in the header) is refused: make it after the launch.  Arrays made during the
    capture lie in memory of the graph's own, and what it reads lives until `reset`.  Make the calls once before it:
    a device may load kernels when they are first called.
    A library records by its own means where it has them (a CUDA graph); else the calls are made again, one by one.
    """

    def __init__(self, memory: Memory, services: Services, stream: int) -> None:
        self._memory, self._services, self._stream = memory, services, stream
        self.state: State = "empty"
        self._handle: int | None = None
        self._clear()

    def _clear(self) -> None:
        self._pool, self._held = Pool(), dict[int, Any]()
        self._calls: list[Callable[[], None]] | None = None
        self._launched: set[int] = set()

    def begin(self) -> None:
        """Begin to capture.  Raises CaptureError where the graph is not empty, or another capture is under way."""
        self._expect("begin", "empty")
        if self._memory.capture is not None:
            raise CaptureError("begin", "no other capture under way", "one")
        self._outside = self._memory.stream
        self._memory.cache.hold()
        try:
            self._calls = None if self._begins() else []
        except CallError:
            self._memory.cache.settle()
            raise
        self._enter()
        self.state = "capturing"

    @property
    def by_library(self) -> bool:
        """Whether the library has recorded by its own means."""
        return self._handle is not None

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Do what is asked meanwhile at once, and outside the graph: its constants."""
        self._leave()
        try:
            yield
        finally:
            self._enter()

    def _enter(self) -> None:
        self._memory.use(self._stream)
        self._memory.cache.take_from(self._pool)
        self._memory.capture = self

    def _leave(self) -> None:
        self._memory.use(self._outside)
        self._memory.cache.take_from(None)
        self._memory.capture = None

    def _begins(self) -> bool:
        """Whether the library records by itself."""
        if not self._memory.space.on_device:
            return False
        try:
            self._services.capture_begin(self._stream)
        except MissingSymbol:
            return False
        except CallError as error:
            if error.code not in _CANNOT:
                raise
            return False
        return True

    def end(self) -> None:
        """End the capture.  Raises CallError, leaving the graph empty, where something could not be captured."""
        self._expect("end", "capturing")
        self._leave()
        self.state = "ready"
        try:
            if self._calls is None:
                self._handle = int(self._services.capture_end(self._stream))
        except CallError:
            self.reset()
            raise
        finally:
            self._memory.cache.settle()

    def launch(self) -> None:
        """Do all of it, on the stream that calls are made on, behind what was asked of that."""
        self._expect("launch", "ready")
        stream = self._memory.stream
        if stream not in self._launched:
            self._memory.space.order(self._stream, stream)
            self._launched.add(stream)
            for owner in self._held.values():
                self._memory.touch(owner)
        if self._calls is None:
            self._services.graph_launch(self._handle, stream)
            return
        self._memory.space.order(stream, self._stream)  # calls are made again on the stream they were made on
        for call in self._calls:
            call()
        self._memory.space.order(self._stream, stream)

    def reset(self) -> None:
        """Empty the graph: it may be captured anew. Its memory goes back behind the launches that use it."""
        if self.state == "capturing":
            raise CaptureError("reset", "a graph that is not being captured", "one that is")
        for stream in self._launched:
            self._memory.space.order(stream, self._stream)
        if self._handle is not None:
            self._services.graph_destroy(self._handle)
        self._memory.cache.close(self._pool)
        self._handle, self.state = None, "empty"
        self._clear()

    def __del__(self) -> None:
        if self.state == "ready":
            with suppress(BindingError):  # a device that has failed
                self.reset()

    def _expect(self, call: str, state: State) -> None:
        if self.state != state:
            raise CaptureError(call, f"a graph that is {state}", f"one that is {self.state}")

    def ask(self, call: Callable[[], None], *arrays: DeviceArray) -> None:
        """Record a call: now, by making it, where the library itself records."""
        for owner in (array.owner for array in arrays):
            if type(owner) is not Block or owner.pool is not self._pool:
                self._held[id(owner)] = owner
        if self._calls is None:
            call()
        else:
            self._calls.append(call)

    def refuse(self, function: Function, values: Mapping[str, Any], resident: bool) -> None:
        """Raise for a call that cannot be captured."""
        if not resident:
            raise CaptureError(function.operation, "DeviceArrays during a capture", "host arrays")
        if moving := [parameter.name for parameter in function.parameters if parameter.moving]:
            got = ", ".join(f"{name} = {values[name]}" for name in moving)
            raise CaptureError(function.operation, "no number in a capture that changes from step to step", got)
