"""In which format a model computes: float32, or a 16-bit format with float32 masters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bindings import DeviceArray
from reference import random
from reference.arrays import Array, check
from reference.model.parameters import Parameters
from reference.namespace import Ops
from reference.step import State, TrainingConfig, adamw_arguments, moved

from .autocast import Autocast
from .policy import FORMATS, MIXED, Policy
from .scaling import DYNAMIC, NONE, Scaling, fixed


@dataclass(frozen=True, kw_only=True)
class Precision:
    """The format of what is computed ("float32", "bf16" or "fp16"), by which policy, and how the loss is scaled.

    Gradients of parameters are float32 whatever the format, and so are the masters and moments that AdamW moves.
    stochastic: each copy of an updated parameter is rounded up or down at random, by seed and update, so that it is
    the master in the mean; else to nearest.  Raises ValueError for another format.
    """

    format: str = "float32"
    scaling: Scaling = NONE
    policy: Policy = MIXED
    stochastic: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        expected = ", ".join(["float32", *FORMATS])
        check(self.is_mixed or self.format == "float32", "Precision", "format", f"one of {expected}", self.format)

    @property
    def is_mixed(self) -> bool:
        """Whether something is computed in 16 bits."""
        return self.format in FORMATS

    def on(self, ops: Ops) -> Ops:
        """The namespace of operations that the model is to be run on."""
        return Autocast(ops, self.policy, self.format) if self.is_mixed else ops

    def copies(self, ops: Ops, parameters: Parameters) -> Parameters:
        """The parameters that the model reads in 16 bits."""
        if not self.is_mixed:
            return {}
        autocast = Autocast(ops, self.policy, self.format)
        return {name: autocast.narrow(array) for name, array in parameters.items() if self.policy.copies(name)}

    def unscaled(self, ops: Ops, gradients: Parameters, scale: float) -> Parameters:
        """Gradients of the loss from those of scale times the loss: exact, for a power of two."""
        if scale == 1:
            return gradients
        arrays = list(gradients.values())
        return dict(zip(gradients, ops.multi_scale(arrays, _as_array_like(arrays[0], [1 / scale])), strict=True))

    @property
    def looks(self) -> bool:
        """Whether an update is made of finite gradients alone; float32 without scaling does not look."""
        return self.is_mixed or self.scaling != NONE

    def finite(self, ops: Ops, gradients: Parameters, nonfinite: Array | None = None) -> bool:
        """Whether an update may be made of these gradients; nonfinite [1]: how many are not finite, if known."""
        if not self.looks:
            return True
        if nonfinite is None:
            nonfinite = ops.multi_nonfinite(list(gradients.values()))
        return int(nonfinite[0]) == 0

    def moved(
        self,
        ops: Ops,
        training: TrainingConfig,
        state: State,
        copies: Parameters,
        gradients: Parameters,
        factor: Array,
        rate: float,
    ) -> tuple[State, Parameters]:
        """(state, copies) after AdamW on the masters with the gradients times factor [1]; copies in the same pass."""
        copied = _only(state, [name for name in state.parameters if name in copies])
        others = _only(state, [name for name in state.parameters if name not in copies])
        after = State({}, {}, {}, state.step)
        if others.parameters:
            lists, named = adamw_arguments(training, others, gradients, factor, rate)
            after = moved(others, *ops.multi_adamw(*lists, **named))
        if copied.parameters:
            (*lists, decays, scale), named = adamw_arguments(training, copied, gradients, factor, rate)
            lists.append([copies[name] for name in copied.parameters])
            adamw = getattr(ops, f"multi_adamw_{self.format}")
            *updated, halves = adamw(*lists, decays, scale, **named, seed=self._seed(state.step + 1))
            after = _joined(state, after, moved(copied, *updated))
            copies = dict(zip(copied.parameters, halves, strict=True))
        return after, copies

    def _seed(self, update: int) -> int:
        """Of the rounding of an update's copies: 0 is to nearest."""
        return random.stream("copies", self.seed, update) | 1 if self.stochastic else 0


def _as_array_like(array: Array, numbers: Any) -> Array:
    """The numbers in float32, of the host or a DeviceArray as the array is one: no call takes both on a device."""
    converted = np.array(numbers, np.float32)
    return array.memory.array(converted) if isinstance(array, DeviceArray) else converted


def _only(state: State, names: list[str]) -> State:
    """A part of a state."""
    held = [{name: arrays[name] for name in names} for arrays in state[:3]]
    return State(held[0], held[1], held[2], state.step)


def _joined(state: State, one: State, other: State) -> State:
    """Both parts in the order of the whole."""
    held = [{name: (a | b)[name] for name in state.parameters} for a, b in zip(one[:3], other[:3], strict=True)]
    return State(held[0], held[1], held[2], other.step)


FLOAT32 = Precision()
BF16 = Precision(format="bf16")
FP16 = Precision(format="fp16", scaling=DYNAMIC)
PRECISIONS = {precision.format: precision for precision in (FLOAT32, BF16, FP16)}


def read(format: str, loss_scale: str | None = None) -> Precision:
    """Return the precision of these words; loss_scale: "none", "dynamic", or a power of two that stays.

    Not given, it is dynamic in fp16, whose small gradients vanish otherwise, and none elsewhere.  Raises ValueError.
    """
    check(format in PRECISIONS, "Precision", "format", f"one of {', '.join(PRECISIONS)}", format)
    precision = PRECISIONS[format]
    if loss_scale is None:
        return precision
    named = {"none": NONE, "dynamic": DYNAMIC}
    if loss_scale in named:
        return replace(precision, scaling=named[loss_scale])
    try:
        return replace(precision, scaling=fixed(float(loss_scale)))
    except ValueError:  # no number, or no power of two
        expected = "none, dynamic or a power of two"
        raise ValueError(f"Precision: loss_scale: expected {expected}, got {loss_scale}") from None
