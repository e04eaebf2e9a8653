"""Optimisers of modules: SGD, Adam, AdamW; rates by schedules; clipping by the norm over all gradients.

In: a module whose parameters have gradients.
Out: the parameters, moved in place; moments as a state dict.
Used by: who trains a network of tensors.
"""

from __future__ import annotations

from .clipping import clip_by_global_norm, clipping
from .optimizer import Optimizer, Schedule, matrices
from .schedules import Constant, WarmupCosine, WarmupLinear
from .steps import SGD, Adam, AdamW

__all__ = [
    "SGD",
    "Adam",
    "AdamW",
    "Constant",
    "Optimizer",
    "Schedule",
    "WarmupCosine",
    "WarmupLinear",
    "clip_by_global_norm",
    "clipping",
    "matrices",
]
