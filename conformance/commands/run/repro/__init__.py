"""Repro files: one call, what it was given, what came and what should have, in a file that any language can read."""

from __future__ import annotations

from .keep import MOST, ReproError, check_new, keep
from .recall import named_by, recall

__all__ = ["MOST", "ReproError", "check_new", "keep", "named_by", "recall"]
