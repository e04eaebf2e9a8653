"""Layers as a training step runs them, forward and then backward: convolutions and recurrent layers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from .backends import PYTORCH, Backends
from .cases import Case
from .networks import CONVOLUTIONS, PARTS, convolution, recurrent
from .sizes import SHORT, Sizes

# Samples, channels and filters, a side; kernels are 3 x 3.
PLANES = ((16, 32, 14), (16, 32, 28), (4, 32, 56), (16, 64, 14), (4, 64, 56), (4, 128, 28), (16, 256, 14), (4, 256, 28))
# Samples, steps, inputs, units.
SEQUENCES = ((64, 8, 8, 64), (32, 32, 64, 64), (32, 32, 128, 128), (16, 64, 256, 256))


class Layer(NamedTuple):
    """Operations that are called one after the other, each on arrays that were made beforehand."""

    id: str
    cases: tuple[Case, ...]

    def call(self, backends: Backends, name: str) -> Callable[[], Any]:
        """The whole layer on that backend: on PyTorch by autograd, which shares work among gradients."""
        if name == PYTORCH:
            return backends.layer_in_torch(self.cases)
        calls = [backends.call(name, case) for case in self.cases]
        return lambda: [call() for call in calls]


def _convolutions(layer: tuple[int, int, int], divisor: int) -> tuple[Case, ...]:
    return tuple(convolution(operation, layer, divisor) for operation in CONVOLUTIONS)


class TimedLayer(NamedTuple):
    """A layer, made when it is asked for, and one of fewer samples, whose operations are compared first."""

    layer: Callable[[], Layer]
    smaller: Callable[[], tuple[Case, ...]]


def timed_layers(sizes: Sizes) -> dict[str, TimedLayer]:
    """All layers by id: their kind, and the shape of their input."""
    found = {}
    for planes in PLANES:
        batch, channels, side = planes
        id = f"convolution forward and backward {batch}x{channels}x{side}x{side}"
        found[id] = _timed(id, partial(_convolutions, planes), sizes)
    for kind in PARTS:
        for sequences in SEQUENCES:
            batch, steps, inputs, hidden = sequences
            id = f"recurrent {kind} forward and backward {batch}x{steps}x{inputs} of {hidden} units"
            found[id] = _timed(id, partial(recurrent, kind, sequences), sizes)
    return found


def _timed(id: str, cases: Callable[[int], tuple[Case, ...]], sizes: Sizes) -> TimedLayer:
    return TimedLayer(lambda: Layer(id, cases(sizes.divisor)), lambda: cases(SHORT.divisor))
