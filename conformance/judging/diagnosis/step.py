"""What a whole step that was handed in looks like: a wrong reading of the step, and each wrong tensor.

A step is no call of an operation: there is nothing to compare its tensors with but the right ones, and those of the
wrong readings of a step, each of which computes it once more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from conformance.catalogue.goldens import step as golden
from conformance.judging.diagnoses import Diagnosis, Symptom, of_readings
from conformance.judging.verdict import Verdict, judge
from conformance.limits.expectation import Expected
from conformance.limits.measure import SIGMAS
from conformance.limits.namespaces import OnFloat32, OnNumbers, converted
from conformance.limits.noise import Noisy, exact
from reference.model.config import TINY
from reference.namespace import Ops, Wrapped
from reference.readings import Reading
from reference.readings.step import GRADIENTS
from reference.step import State, TrainingConfig, start

from .step_tensors import is_comparable, symptoms_of

Array = NDArray[Any]
_NAMED = 3  # wrong tensors behind the first that the sentence names
_TRAINING = TrainingConfig(clip_norm=golden.CLIP_NORM)


class Misread(Protocol):
    """Gives what a step comes to by a reading: on a namespace of operations, from a start that is converted."""

    def __call__(self, reading: Reading, ops: Ops, convert: Callable[[Array], Any]) -> Mapping[str, Any]: ...


def diagnose_step(
    expected: Expected,
    got: Mapping[str, Array],
    verdicts: Sequence[Verdict],
    misread: Misread,
    readings: Sequence[Reading] = GRADIENTS,
) -> Diagnosis | None:
    """Say what a wrong step looks like; None where it is right.

    verdicts: in the order in which the step comes to its tensors, so that the first is where it began.  misread: the
    step by one of the readings.  Every wrong tensor has a symptom; a parameter's gradient and its norm share one.
    """
    failed = [verdict for verdict in verdicts if not verdict.passed]
    if not failed:
        return None
    with np.errstate(all="ignore"):
        symptoms = tuple(symptoms_of(expected, got, failed))
        if not all(is_comparable(expected, got, verdict.output) for verdict in verdicts):
            return Diagnosis(_sentence(symptoms), symptoms=symptoms)
        tried = _Tried(expected, got, misread, {verdict.output for verdict in failed})
        computed = [(reading, tried.plain(reading)) for reading in readings]
        if names := [reading.name for reading, values in computed if tried.holds(reading, values, [*got])]:
            return replace(of_readings(names), symptoms=symptoms)
        # Where mistakes mix, what backward meets first still shows one of them alone.
        begun = [verdict.output for verdict in verdicts[: verdicts.index(failed[0]) + 1]]
        names = [reading.name for reading, values in computed if tried.holds(reading, values, begun)]
    return Diagnosis(_sentence(symptoms, names), symptoms=symptoms)


def of_golden(inputs: Mapping[str, Array]) -> Misread:
    """Return what gives the golden step by a reading; inputs: the golden's."""

    def misread(reading: Reading, ops: Ops, convert: Callable[[Array], Any]) -> Mapping[str, Any]:
        return results_of(reading, ops, converted(start(golden.parameters()), convert), inputs)

    return misread


def _sentence(symptoms: Sequence[Symptom], begun_by: Sequence[str] = ()) -> str:
    """What is wrong first, and what after it; begun_by: readings that give every tensor up to the first wrong one."""
    first, *later = symptoms
    looks = f", which matches: {', or '.join(begun_by)}" if begun_by else f": {first.text}"
    more = f" and {len(later) - _NAMED} more" if len(later) > _NAMED else ""
    after = f"; then {', '.join(one.outputs[0] for one in later[:_NAMED])}{more}" if later else ""
    return f"first wrong: {first.outputs[0]}{looks}{after}"


class _Tried:
    """Readings held against what came."""

    def __init__(self, expected: Expected, got: Mapping[str, Array], misread: Misread, wrong: set[str]) -> None:
        self._expected, self._got, self._misread, self._wrong = expected, got, misread, wrong
        self._noisy: dict[str, Mapping[str, Any]] = {}

    def plain(self, reading: Reading) -> Mapping[str, Any]:
        """What the step comes to by a reading, without noise."""
        return self._misread(reading, OnFloat32(), np.asarray)

    def holds(self, reading: Reading, values: Mapping[str, Any], names: Sequence[str]) -> bool:
        """Whether these tensors are what they are by a reading; values: what `plain` says."""
        if not all(_is_as_near(values[name], self._expected[name], self._got[name]) for name in names):
            return False
        if any(self._is_right(name, values[name]) for name in names if name in self._wrong):
            return False
        if reading.name not in self._noisy:
            self._noisy[reading.name] = self._misread(reading, OnNumbers(_exact), _exact)
        own = self._noisy[reading.name]
        return all(judge(name, own[name], self._got[name]).passed for name in names)

    def _is_right(self, name: str, value: Array) -> bool:
        return judge(name, self._expected[name], np.asarray(value, np.float32)).passed


def _exact(array: Array) -> Noisy:
    return exact(array, worst=False)


def _is_as_near(reading: Array, right: Noisy, got: Array) -> bool:
    """Whether a tensor is as near to the reading's as to the right one: plain numbers tell most readings apart."""
    reach = SIGMAS * np.linalg.norm(right.sigma)
    return bool(np.linalg.norm(got - reading) <= np.linalg.norm(got - right.v) + reach)


class _Gradients(Wrapped):
    """A namespace that keeps the gradients that the update is given, and makes no update."""

    def __init__(self, ops: Ops) -> None:
        super().__init__(ops)
        self.gradients: list[Any] = []

    def multi_adamw(self, params: list[Any], grads: list[Any], m: list[Any], v: list[Any], *_: Any, **__: Any) -> Any:
        self.gradients = grads
        return params, m, v


def results_of(reading: Reading, ops: Ops, state: State, inputs: Mapping[str, Array]) -> dict[str, Any]:
    """Return what the golden step comes to by a reading, by the golden's names."""
    seen = _Gradients(ops)
    batch = inputs["input.tokens"], inputs["input.targets"]
    _, metrics = reading.function(seen, TINY, _TRAINING, state, *batch)
    gradients = dict(zip(state.parameters, seen.gradients, strict=True))
    losses = {"loss": metrics.loss, "cross_entropy": metrics.cross_entropy, "aux_loss": metrics.aux_loss}
    return {**losses, "norm": metrics.norm, **golden.of_gradients(gradients, inputs)}
