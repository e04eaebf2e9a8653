"""Proves that the judge would notice: every wrong reading must fail a case, and the diagnosis must say what it is."""

from __future__ import annotations

from .planted import planted
from .trial import Found, Told, found, named, tried

__all__ = ["Found", "Told", "found", "named", "planted", "tried"]
