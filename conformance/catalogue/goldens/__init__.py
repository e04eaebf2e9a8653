"""Goldens: expected results kept in files, so that neither a port nor the reference can drift unseen."""

from __future__ import annotations

from .errors import GoldenError
from .load import Golden, load, load_tensors
from .manifest import FOLDER, catalogue_floor, golden_ids, goldens_floor
from .names import file_of

__all__ = [
    "FOLDER",
    "Golden",
    "GoldenError",
    "catalogue_floor",
    "file_of",
    "golden_ids",
    "goldens_floor",
    "load",
    "load_tensors",
]
