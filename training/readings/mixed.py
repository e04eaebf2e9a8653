"""Wrong readings of mixed precision, called as `Step` is: (ops, config, training, precision=...)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from typing import Any

import numpy as np

from reference.arrays import Array
from reference.model.parameters import Parameters
from reference.namespace import Ops
from reference.readings import Reading
from reference.readings.step import Misread
from reference.step import State, TrainingConfig
from training.precision import Precision, Scaler, Scaling
from training.step import Report, Standing, Step

MIXED_PRECISION = "mixed precision"  # what stands for an operation's name


def _as(kind: type[Any], right: Any) -> Any:
    """The same settings, in a kind that overrides something."""
    return kind(**{field.name: getattr(right, field.name) for field in fields(right)})


def _with(kind: type[Precision]) -> Callable[..., Step]:
    return lambda ops, config, training, precision: Step(ops, config, training, precision=_as(kind, precision))


def _scaled_by(kind: type[Scaling]) -> Callable[..., Step]:
    def function(ops: Ops, config: Any, training: TrainingConfig, precision: Precision) -> Step:
        misread = replace(precision, scaling=_as(kind, precision.scaling))
        return Step(ops, config, training, precision=misread)

    return function


# ---- masters and copies -----------------------------------------------------------------------------


class _EmptyMasters(Step):
    def start(self, parameters: Parameters) -> Standing:
        standing = super().start(parameters)
        empty = {name: np.zeros_like(array) for name, array in parameters.items()}
        return standing._replace(state=standing.state._replace(parameters=empty))


class _RoundedMasters(Precision):
    def moved(self, ops: Ops, training: TrainingConfig, state: State, *given: Any) -> tuple[State, Parameters]:
        state, copies = super().moved(ops, training, state, *given)
        rounded = {name: np.asarray(copy, np.float32) for name, copy in copies.items()}
        return state._replace(parameters=state.parameters | rounded), copies


class _StaleCopies(Precision):
    def moved(
        self, ops: Ops, training: TrainingConfig, state: State, copies: Parameters, *given: Any
    ) -> tuple[State, Parameters]:
        return super().moved(ops, training, state, copies, *given)[0], copies


# ---- scaling ----------------------------------------------------------------------------------------


class _Scaled(Precision):
    def unscaled(self, ops: Ops, gradients: Parameters, scale: float) -> Parameters:
        return gradients


class _UnscaledTwice(Precision):
    def unscaled(self, ops: Ops, gradients: Parameters, scale: float) -> Parameters:
        return super().unscaled(ops, super().unscaled(ops, gradients, scale), scale)


class _HeadUnscaled(Precision):
    def unscaled(self, ops: Ops, gradients: Parameters, scale: float) -> Parameters:
        last = list(gradients)[-1]
        return gradients | super().unscaled(ops, {last: gradients[last]}, scale)


class _AuxUnscaled(Step):
    """The gradient of the auxiliary loss is that of the loss itself."""

    def __call__(self, standing: Standing, tokens: Array, targets: Array) -> tuple[Standing, Report]:
        right, scale = self._model_ops, standing.scaler.scale

        def backward(f_counts: Array, batch_seq: int, alpha: float, scale: float = scale) -> Array:
            return right.aux_loss_backward(f_counts, batch_seq=batch_seq, alpha=alpha, scale=1.0)

        self._model_ops = Misread(right, aux_loss_backward=backward)
        try:
            return super().__call__(standing, tokens, targets)
        finally:
            self._model_ops = right


# ---- what is not finite -----------------------------------------------------------------------------


class _LastOnly(Precision):
    def finite(self, ops: Ops, gradients: Parameters, nonfinite: Array | None = None) -> bool:
        last = list(gradients)[-1]
        return super().finite(ops, {last: gradients[last]})


class _Unlooked(Precision):
    def finite(self, ops: Ops, gradients: Parameters, nonfinite: Array | None = None) -> bool:
        return True


class _Zeroed(Precision):
    """What is not finite is taken as 0, and the update is made."""

    def unscaled(self, ops: Ops, gradients: Parameters, scale: float) -> Parameters:
        found = super().unscaled(ops, gradients, scale)
        return {name: np.where(np.isfinite(array), array, np.float32(0)) for name, array in found.items()}


class _Counted(Step):
    """A skipped update is counted."""

    def __call__(self, standing: Standing, tokens: Array, targets: Array) -> tuple[Standing, Report]:
        after, report = super().__call__(standing, tokens, targets)
        if report.skipped:
            after = after._replace(state=after.state._replace(step=after.state.step + 1))
        return after, report


class _Decaying(Step):
    """A skipped update lets the moments decay."""

    def __call__(self, standing: Standing, tokens: Array, targets: Array) -> tuple[Standing, Report]:
        after, report = super().__call__(standing, tokens, targets)
        if report.skipped:
            m, v = (
                {name: np.float32(beta) * array for name, array in moments.items()}
                for beta, moments in ((self._training.beta1, after.state.m), (self._training.beta2, after.state.v))
            )
            after = after._replace(state=after.state._replace(m=m, v=v))
        return after, report


# ---- the scale --------------------------------------------------------------------------------------


class _Shrinking(Scaling):
    def after(self, scaler: Scaler, finite: bool) -> Scaler:
        return scaler._replace(good=scaler.good + 1) if finite else super().after(scaler, finite)


class _Staying(Scaling):
    def after(self, scaler: Scaler, finite: bool) -> Scaler:
        return super().after(scaler, finite) if finite else scaler._replace(good=0, skipped=scaler.skipped + 1)


class _Eager(Scaling):
    def after(self, scaler: Scaler, finite: bool) -> Scaler:
        return super().after(scaler._replace(good=self.interval), finite)


_reading = partial(Reading, MIXED_PRECISION)

READINGS = (
    _reading("masters start at 0", "They were allocated, and never copied from the parameters.", _EmptyMasters),
    _reading("masters in 16 bits", "After each update they are what the copies hold.", _with(_RoundedMasters)),
    _reading("copies not renewed", "The model goes on computing with its first copies.", _with(_StaleCopies)),
    _reading("not unscaled", "AdamW does not mind the size of gradients, it was thought.", _with(_Scaled)),
    _reading("unscaled twice", "Once after backward, and once before the clip.", _with(_UnscaledTwice)),
    _reading("one tensor unscaled", "The last one alone is divided by the scale.", _with(_HeadUnscaled)),
    _reading("auxiliary loss not scaled", "Its gradient is a scale too small beside the other.", _AuxUnscaled),
    _reading("looks at the last tensor", "Only the last gradient is inspected.", _with(_LastOnly)),
    _reading("does not look", "Updates are made of whatever comes.", _with(_Unlooked)),
    _reading("takes infinities as 0", "Instead of skipping the update.", _with(_Zeroed)),
    _reading("skipped updates count", "The step count, and with it the schedule, goes on.", _Counted),
    _reading("skipped updates move the moments", "They decay as if the gradient were 0.", _Decaying),
    _reading("scale never grows", "It only shrinks.", _scaled_by(_Shrinking)),
    _reading("scale never shrinks", "Updates are skipped until the gradients fit.", _scaled_by(_Staying)),
    _reading("scale grows at once", "After every good update.", _scaled_by(_Eager)),
)
