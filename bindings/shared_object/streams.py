"""Streams and events of a library: what is done in which order, and when."""

from __future__ import annotations

import contextlib

from bindings.errors import BindingError

from .services import Services


class Stream:
    """A line of work of its own; `library.on(stream)` puts calls on it. One that was made is kept by its library."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.address = int(services.stream_create())

    def wait(self, event: Event) -> None:
        """Let what comes next wait for the event; the host goes on."""
        self._services.stream_wait(self.address, event.address)

    def synchronize(self) -> None:
        """Wait for all that was asked of the stream.  Raises CallError for what went wrong in any of it."""
        self._services.synchronize(self.address)

    def __del__(self) -> None:
        with contextlib.suppress(BindingError, AttributeError):  # never made; the device has failed
            self._services.stream_destroy(self.address)


class Event:
    """A point in the order of a stream, once it is recorded."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.address = int(services.event_create())

    def record(self, stream: Stream | None = None) -> None:
        """Mark what has been asked so far of the stream, of the default one where none is given."""
        self._services.event_record(self.address, stream.address if stream else None)

    def wait(self) -> None:
        """Wait for it.  Raises CallError for what went wrong before it."""
        self._services.event_wait(self.address)

    def since(self, start: Event) -> float:
        """Return the milliseconds between two events that have come to pass."""
        return float(self._services.event_elapsed(start.address, self.address))

    def __del__(self) -> None:
        with contextlib.suppress(BindingError, AttributeError):
            self._services.event_destroy(self.address)
