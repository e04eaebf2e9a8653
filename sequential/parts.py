"""What a model holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph import Run
from graph.optimizers import Optimizer, State
from reference.namespace import Ops

from .blueprint import Blueprint
from .layers import Layer
from .losses import Loss
from .metrics import Metric

Array = NDArray[Any]


@dataclass
class Compiled:
    """What a training is by: optimiser, loss and metrics, and where it stands."""

    optimizer: Optimizer
    loss: Loss
    metrics: dict[str, Metric]
    clip_norm: float | None = None
    state: State | None = None
    epochs: int = 0  # that were trained, by which samples are shuffled


@dataclass
class Parts:
    """layers, and what came of them: parameters by name, and runs of the graph by size of batch and loss."""

    layers: list[Layer]
    ops: Ops
    seed: int
    dtype: np.dtype[Any]
    built: Blueprint | None = None
    compiled: Compiled | None = None
    parameters: dict[str, Array] = field(default_factory=dict)
    runs: dict[tuple[int, Any], Run] = field(default_factory=dict)
