"""Rates by the update's number, which counts from 1."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tensors.errors import check


@dataclass(frozen=True)
class Constant:
    """The same at all times."""

    lr: float

    def __call__(self, update: int) -> float:
        return self.lr


@dataclass(frozen=True)
class WarmupCosine:
    """Up in a line to lr within `warmup` updates, then down in a cosine to `final` times lr at `total`, then flat.

    Loshchilov and Hutter 2017, without restarts.
    """

    lr: float
    warmup: int
    total: int
    final: float = 0.1

    def __post_init__(self) -> None:
        check(0 <= self.warmup < self.total, "WarmupCosine", f"a warmup from 0 up to below {self.total}", self.warmup)

    def __call__(self, update: int) -> float:
        if update <= self.warmup:
            return self.lr * update / self.warmup
        progress = min(1.0, (update - self.warmup) / (self.total - self.warmup))
        return self.lr * (self.final + (1.0 - self.final) * 0.5 * (1.0 + math.cos(math.pi * progress)))


@dataclass(frozen=True)
class WarmupLinear:
    """Up in a line to lr within `warmup` updates, then down in a line to `final` times lr at `total`, then flat."""

    lr: float
    warmup: int
    total: int
    final: float = 0.0

    def __post_init__(self) -> None:
        check(0 <= self.warmup < self.total, "WarmupLinear", f"a warmup from 0 up to below {self.total}", self.warmup)

    def __call__(self, update: int) -> float:
        if update <= self.warmup:
            return self.lr * update / self.warmup
        progress = min(1.0, (update - self.warmup) / (self.total - self.warmup))
        return self.lr * (1.0 - (1.0 - self.final) * progress)
