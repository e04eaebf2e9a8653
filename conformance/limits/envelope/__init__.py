"""The envelope of a training run: where honest arithmetic may lead in so many steps, and how far apart."""

from __future__ import annotations

from .replicas import REPLICAS, Envelope, draw_envelope, spread
from .run import LENGTH, RUN, RUNS, Run, batches, beginning, distance, follow, operations, standing_by_step

__all__ = [
    "LENGTH",
    "REPLICAS",
    "RUN",
    "RUNS",
    "Envelope",
    "Run",
    "batches",
    "beginning",
    "distance",
    "draw_envelope",
    "follow",
    "operations",
    "spread",
    "standing_by_step",
]
