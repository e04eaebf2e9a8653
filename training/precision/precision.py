"""In which format a model computes: float32, or a 16-bit format with float32 masters."""

from __future__ import annotations

from dataclasses import dataclass

from reference.model.parameters import Ops, Parameters
from reference.ops._arrays import Array
from reference.step import State, TrainingConfig, adamw_arguments, moved
from training.placing import beside
from training.precision.scaling import NONE, Scaling


@dataclass(frozen=True, kw_only=True)
class Precision:
    """The format of what is computed, and how the loss is scaled.

    Gradients of parameters are float32 whatever the format, and so are the masters and moments that AdamW moves.
    """

    scaling: Scaling = NONE

    def on(self, ops: Ops) -> Ops:
        """The namespace of operations that the model is to be run on."""
        return ops

    def copies(self, ops: Ops, parameters: Parameters) -> Parameters:
        """The parameters that the model reads in 16 bits."""
        return {}

    def unscaled(self, ops: Ops, gradients: Parameters, scale: float) -> Parameters:
        """Gradients of the loss from those of scale times the loss: exact, for a power of two."""
        if scale == 1:
            return gradients
        arrays = list(gradients.values())
        return dict(zip(gradients, ops.multi_scale(arrays, beside(arrays[0], [1 / scale])), strict=True))

    def finite(self, ops: Ops, gradients: Parameters) -> bool:
        """Whether an update may be made of these gradients; float32 without scaling does not look."""
        return True

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
        """(state, copies) after AdamW on the masters with the gradients times factor [1]."""
        lists, named = adamw_arguments(training, state, gradients, factor, rate)
        return moved(state, *ops.multi_adamw(*lists, **named)), copies


FLOAT32 = Precision()
