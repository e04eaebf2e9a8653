"""Second opinions on the reference: every operation once more, from the header's formula, sharing no code with it."""

from __future__ import annotations

from .confirmation import Confirmation

__all__ = ["Confirmation"]
