"""Gradient checkpointing: layers whose activations are dropped behind forward and computed again in backward.

Chen et al. 2016, Training deep nets with sublinear memory cost.  Of a segment of consecutive layers only the input of
the first is kept, stream and branch: their sum alone would be normed by another operation than in forward, which need
not give the same bits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from reference.arrays import Array, check
from reference.namespace import Ops

from . import block
from .config import Config
from .parameters import Parameters, layer

POLICIES = ("every", "boundaries")


class Draws(Protocol):
    """What operations draw from that are not told a seed in every call, as dropout may be."""

    def state(self) -> Any:
        """Where the draws stand."""

    def restore(self, state: Any) -> None:
        """Draw on from there."""


@dataclass(frozen=True)
class Recompute:
    """Which layers are computed again.

    policy  "every": the k-th layer, the 2k-th, ... by itself, the others keep everything;
            "boundaries": all layers, in segments of k
    k       by default the whole number nearest to sqrt(layers): boundaries and one segment then take the least together
    draws   set back to what a segment first drew before it is computed again
    """

    policy: str
    k: int | None = None
    draws: Draws | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        check(self.policy in POLICIES, "Recompute", "policy", f"one of {', '.join(POLICIES)}", self.policy)
        whole = self.k is None or (isinstance(self.k, int) and not isinstance(self.k, bool) and self.k >= 1)
        check(whole, "Recompute", "k", "a whole number of at least 1", self.k)

    def segments(self, layers: int) -> list[range]:
        """The layers that are computed again, counted from 0, those of one segment together."""
        k = round(math.sqrt(layers)) if self.k is None else self.k
        check(k <= layers, "Recompute", "k", f"at most the {layers} layers there are", k)
        if self.policy == "every":
            return [range(index, index + 1) for index in range(k - 1, layers, k)]
        return [range(first, min(first + k, layers)) for first in range(0, layers, k)]


def read(text: str) -> Recompute | None:
    """A setting as text: `none`, `every:2`, `boundaries:4`, or a policy alone for its default k."""
    policy, separator, k = text.partition(":")
    if text == "none":
        return None
    known = policy in POLICIES and (k.isdecimal() if separator else True)
    expected = "none, or every or boundaries, with or without a number of layers (every:2)"
    check(known, "Recompute", "policy", expected, repr(text))
    return Recompute(policy, int(k) if k else None)


class Dropped(NamedTuple):
    """What is kept in place of a segment's activations: the first layer's input, and where the draws stood."""

    stream: Array
    branch: Array | None
    draws: Draws | None
    state: Any


Kept = block.Kept | Dropped | None  # of one layer; None within a segment that is dropped


class Keeping:
    """Decides in forward what is kept of each layer."""

    def __init__(self, recompute: Recompute | None, layers: int) -> None:
        segments = recompute.segments(layers) if recompute else []
        self._first = {index: segment.start for segment in segments for index in segment}
        self._draws = recompute.draws if recompute else None

    def before(self, index: int, stream: Array, branch: Array | None) -> Dropped | None:
        """What is to be kept of the layer's input."""
        if self._first.get(index) != index:
            return None
        return Dropped(stream, branch, self._draws, self._draws.state() if self._draws else None)

    def behind(self, index: int, before: Dropped | None, kept: block.Kept) -> Kept:
        """What is kept of the layer; before: what was kept of its input."""
        return before if index in self._first else kept


class Tape:
    """What the layers kept, given out from the last to the first; dropped segments are computed again on the way.

    It is taken out of the list `kept`, so that nothing holds a layer's activations when its gradients are there.
    """

    def __init__(
        self, ops: Ops, config: Config, parameters: Parameters, kept: list[Kept], freqs: Array, batch: int
    ) -> None:
        self._ops, self._config, self._parameters = ops, config, parameters
        self._kept, self._freqs, self._batch = kept, freqs, batch

    def pop(self) -> block.Kept:
        """The last layer's."""
        if not isinstance(self._kept[-1], block.Kept):
            self._replay()
        kept = self._kept.pop()
        assert isinstance(kept, block.Kept)
        return kept

    def _replay(self) -> None:
        """Compute the last segment again.  Its auxiliary loss was counted in forward, and has no place here."""
        first = max(index for index, kept in enumerate(self._kept) if isinstance(kept, Dropped))
        dropped, layers = self._kept[first], range(first, len(self._kept))
        assert isinstance(dropped, Dropped)
        now = dropped.draws.state() if dropped.draws else None
        if dropped.draws:
            dropped.draws.restore(dropped.state)
        stream, branch = dropped.stream, dropped.branch
        for index in layers:
            arrays = layer(self._parameters, index)
            output = block.forward(self._ops, self._config, arrays, stream, branch, self._freqs, self._batch)
            stream, branch = output.stream, output.branch
            self._kept[index] = output.kept
        if dropped.draws:
            dropped.draws.restore(now)
