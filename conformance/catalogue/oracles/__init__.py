"""Second opinions on the reference: every operation once more, from the header's formula, sharing no code with it."""

from __future__ import annotations

from .confirm import Confirmation, confirm

__all__ = ["Confirmation", "confirm"]
