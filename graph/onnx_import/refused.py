"""What ONNX has and the header has not."""

from __future__ import annotations

from typing import Any


class NotApplicableError(ValueError):
    """A node or a call that the other side has no counterpart for; the message says why."""


def expect(holds: Any, reason: str) -> None:
    """Raise NotApplicableError with the reason unless it holds."""
    if not holds:
        raise NotApplicableError(reason)
