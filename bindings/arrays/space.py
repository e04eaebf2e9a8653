"""Where arrays lie: on the host, where NumPy reads them too, or behind a library's services."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from bindings.shared_object.foreign import address, from_buffer, pointer, view
from bindings.shared_object.services import Services


class Space(Protocol):
    """Memory by its addresses; what has a stream is done in its order."""

    name: str
    on_device: bool

    def allocate(self, size: int) -> int: ...
    def free(self, at: int) -> None: ...
    def copy(self, to: int, source: int, size: int, stream: int) -> None: ...
    def clear(self, at: int, size: int, stream: int) -> None: ...
    def synchronize(self, stream: int) -> None: ...
    def order(self, first: int, then: int) -> None: ...


class HostSpace:
    """Memory of the host, where every call has ended when it returns."""

    name, on_device = "the host", False

    def __init__(self) -> None:
        self._blocks: dict[int, Any] = {}

    def allocate(self, size: int) -> int:
        block = np.empty(size, np.uint8)
        at = address(from_buffer(block))
        self._blocks[at] = block
        return at

    def free(self, at: int) -> None:
        del self._blocks[at]

    def copy(self, to: int, source: int, size: int, stream: int) -> None:
        view(pointer(to), size)[:] = view(pointer(source), size)

    def clear(self, at: int, size: int, stream: int) -> None:
        np.frombuffer(view(pointer(at), size), np.uint8).fill(0)

    def synchronize(self, stream: int) -> None:
        """Nothing is under way."""

    def order(self, first: int, then: int) -> None:
        """Everything is in order."""


class DeviceSpace:
    """A device's memory, through the library's own services."""

    on_device = True

    def __init__(self, services: Services, name: str) -> None:
        self._services, self.name = services, name

    def allocate(self, size: int) -> int:
        return int(self._services.allocate(size))

    def free(self, at: int) -> None:
        self._services.free(at)

    def copy(self, to: int, source: int, size: int, stream: int) -> None:
        self._services.copy(to, source, size, stream)

    def clear(self, at: int, size: int, stream: int) -> None:
        self._services.fill(at, 0, size, stream)

    def synchronize(self, stream: int) -> None:
        self._services.synchronize(stream)

    def order(self, first: int, then: int) -> None:
        """What comes on `then` waits for what has been asked of `first`; the host waits only without events."""
        if first == then:
            return
        if not self._services.has("event_create"):
            self._services.synchronize(first)
            return
        event = self._services.event_create()
        self._services.event_record(event, first)
        self._services.stream_wait(then, event)
        self._services.event_destroy(event)
