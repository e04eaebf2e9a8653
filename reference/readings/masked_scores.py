"""What readings of attention_softmax are made of: its scores, its masks, a softmax by any maximum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from reference.arrays import Array

from .reading import Reading


@dataclass(frozen=True)
class Call:
    """One call's scores and masks, and the pieces that its weights are made of."""

    scores: Array
    mask: Array | None
    scale: float
    has_mask: int
    causal: int
    offset: int

    def future(self, own: int = 0) -> Array:
        """Which keys lie `own` places or more behind what a query may see: (q_len, kv_len)."""
        queries, keys = self.scores.shape[2:]
        return np.arange(keys) > np.arange(queries)[:, None] + (self.offset + own)

    def added(self) -> Array:
        """What the mask adds to each score, as it lies beside them."""
        return self.mask[:, None, None] if self.mask is not None and self.has_mask else self.scores.dtype.type(0)

    def hidden(self) -> Array:
        """Which keys no query sees, or this query."""
        return np.isneginf(self.added()) | (self.future() if self.causal else False)

    def x(self) -> Array:
        x = self.scores * self.scale + self.added()
        return np.where(self.future(), -np.inf, x) if self.causal else x


def of(function: Callable[[Call], Array]) -> Callable[..., Array]:
    """A wrong reading with the operation's own arguments."""

    def wrong(scores: Array, mask: Array | None, scale: float, has_mask: int, causal: int, offset: int) -> Array:
        return function(Call(scores, mask, scale, has_mask, causal, offset))

    return wrong


def normalised(x: Array, most: Array, axis: int = -1) -> Array:
    """Softmax by this maximum; 0 where nothing is seen."""
    seen = np.max(x, axis=axis, keepdims=True) != -np.inf
    exponentials = np.where(seen, np.exp(x - np.where(seen, most, 0)), 0)
    return exponentials / np.where(seen, np.sum(exponentials, axis=axis, keepdims=True), 1)


def largest(x: Array, axis: Any = -1) -> Array:
    return np.max(x, axis=axis, keepdims=True)


def reading(name: str, why: str, function: Callable[..., Any]) -> Reading:
    """A reading of attention_softmax."""
    return Reading("attention_softmax", name, why, function)
