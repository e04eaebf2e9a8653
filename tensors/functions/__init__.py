"""Differentiable functions that networks are made of, in two forms: composed of strided operations, and fused ones.

In: Variables.
Out: COMPOSED and FUSED, which have the same functions by the same names.
Used by: modules; who writes networks without them.
"""

from __future__ import annotations

from .composed import Chosen, Composed
from .fused import Fused

COMPOSED, FUSED = Composed(), Fused()

__all__ = ["COMPOSED", "FUSED", "Chosen", "Composed", "Fused"]
