"""The envelope of a training run: where honest float32 arithmetic may lead in so many steps, and how far apart."""

from __future__ import annotations

from .replicas import REPLICAS, Envelope, draw_envelope, spread
from .run import BATCH, SEQ, STEPS, batches, beginning, distance, operations, parameters_by_step

__all__ = [
    "BATCH",
    "REPLICAS",
    "SEQ",
    "STEPS",
    "Envelope",
    "batches",
    "beginning",
    "distance",
    "draw_envelope",
    "operations",
    "parameters_by_step",
    "spread",
]
