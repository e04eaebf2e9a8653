"""What an array needs of the memory that it lies in, and that memory of a capture under way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from bindings.header.records import Function

from .space import Space


class Home(Protocol):
    """The memory of a DeviceArray; bindings.arrays.memory.Memory is one."""

    space: Space
    device: tuple[int, int]  # DLPack's type and number
    stream: int

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return a DeviceArray of unknown contents."""

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return a DeviceArray of zeros."""

    def array(self, source: Any) -> Any:
        """Return the source as a DeviceArray."""

    def overwrite(self, array: Any, source: Any) -> None:
        """Copy host or device values into a DeviceArray."""

    def to_host(self, array: Any) -> Any:
        """Wait for the values and return them as a NumPy array."""

    def before(self, stream: Any) -> None:
        """Let the work to come on a consumer's stream wait for that on this one."""


class Capture(Protocol):
    """A graph that records instead of doing; bindings.calls.graph.Graph is one."""

    def ask(self, call: Callable[[], None], *arrays: Any) -> None:
        """Record a call on arrays."""

    def aside(self) -> AbstractContextManager[None]:
        """Do at once what is asked meanwhile."""

    def refuse(self, function: Function, values: Mapping[str, Any], resident: bool) -> None:
        """Raise where a call cannot be part of it."""
