"""What tells which calls of the header's cannot be made of functions that a map stands before."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Protocol


class UnsupportedCalls(Protocol):
    """A map of somebody's functions, of which some are declared for less than the header's."""

    def unsaid(self, operation: str, arguments: Mapping[str, Any]) -> str:
        """Say what of a call cannot be told; nothing where that is nothing.  arguments: by the header's names."""

    def sentences(self, operations: Collection[str]) -> Iterator[str]:
        """Yield what cannot be told, a sentence for each of the operations."""
