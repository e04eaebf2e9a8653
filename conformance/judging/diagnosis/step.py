"""What a whole step that was handed in looks like: a wrong reading of the step, and each wrong tensor.

A step is no call of an operation: there is nothing to compare its tensors with but the right ones, and those of the
wrong readings of a step, each of which computes it once more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from conformance.candidates.poison import poison
from conformance.catalogue.goldens import step as golden
from conformance.judging.diagnoses import Diagnosis, Kind, Symptom, of_readings
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

from .failed import Failed, Wrong
from .symptoms import symptom

Array = NDArray[Any]
# Of a whole tensor; experts' weights are stacked.
_AXES = {2: ("row", "column"), 3: ("expert", "row", "column")}
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
        is_whole = all(_is_comparable(expected, got, verdict.output) for verdict in verdicts)
        names = [one.name for one in readings if is_whole and _matches(one, misread, expected, got)]
        symptoms = tuple(_symptoms(_Step("training_step", {}, expected, got, {}), failed))
    if names:
        return replace(of_readings(names), symptoms=symptoms)
    return Diagnosis(_sentence(symptoms), symptoms=symptoms)


def of_golden(inputs: Mapping[str, Array]) -> Misread:
    """Return what gives the golden step by a reading; inputs: the golden's."""

    def misread(reading: Reading, ops: Ops, convert: Callable[[Array], Any]) -> Mapping[str, Any]:
        return results_of(reading, ops, converted(start(golden.parameters()), convert), inputs)

    return misread


def _sentence(symptoms: Sequence[Symptom]) -> str:
    """What is wrong first, and what after it."""
    first, *later = symptoms
    more = f" and {len(later) - _NAMED} more" if len(later) > _NAMED else ""
    after = f"; then {', '.join(one.outputs[0] for one in later[:_NAMED])}{more}" if later else ""
    return f"first wrong: {first.outputs[0]}: {first.text}{after}"


class _Step(Failed):
    """A step as a call without arguments; its model is too small for a number to be known by a size of it."""

    @property
    def inputs(self) -> dict[str, Array]:
        return {}

    @property
    def numbers(self) -> dict[str, float]:
        return {}

    def computed_with(self, unit: float) -> Expected:
        return {}


class _Tensor(Wrong):
    """One tensor of it: whole, or as many places as a file holds."""

    @property
    def axes(self) -> tuple[str, ...]:
        return _AXES.get(self.got.ndim, ("element",))

    def poison(self, run: int) -> Array:
        return poison(np.dtype(np.float32), run)


def _symptoms(step: _Step, failed: Sequence[Verdict]) -> Iterator[Symptom]:
    """The symptom of each wrong tensor; of a gradient with how far its norm is off, which is not told apart."""
    wrong = {verdict.output: verdict for verdict in failed}
    for name, verdict in wrong.items():
        kind, _, parameter = name.partition(".")
        if kind == "gradient_norm" and f"gradient.{parameter}" in wrong:
            continue
        if not _is_comparable(step.expected, step.got, name):
            yield Symptom(Kind.NO_PATTERN, verdict.reason, outputs=(name,))
            continue
        found = symptom(_Tensor(step, name))
        words = str(found.words)
        if found.kind is Kind.NO_PATTERN and verdict.elements == 1:
            words = f"{words}, {verdict.got / verdict.expected:.6g} times the right one"
        of_all = not found.place and found.kind is not Kind.NO_PATTERN and step.got[name].ndim in _AXES
        if verdict.wrong < verdict.elements and not of_all:  # which some right values happen to satisfy, too
            words = f"{words}, in {verdict.wrong} of {verdict.elements} places"
        if norm := wrong.get(f"gradient_norm.{parameter}" if kind == "gradient" else ""):
            words = f"{words}; its norm is {norm.got / norm.expected:.6g} times the right one"
        elif found.kind is Kind.NO_PATTERN and step.got[name].ndim in _AXES:
            words = f"{words}; {_compared(step.got[name], step.expected[name])}"
        place = found.place if step.got[name].ndim in _AXES else ""  # of a few places of a tensor it says nothing
        yield replace(found, words=words, place=place, outputs=(name,))


def _compared(got: Array, expected: Any) -> str:
    """How far a whole tensor is off the right one, in length and in direction."""
    came, right = (np.asarray(each, np.float64).reshape(-1) for each in (got, expected.v))
    lengths = np.linalg.norm(came), np.linalg.norm(right)
    cosine = float(came @ right / (lengths[0] * lengths[1]))
    return f"its norm is {lengths[0] / lengths[1]:.6g} times the right one, the cosine between both {cosine:.4g}"


def _is_comparable(expected: Expected, got: Mapping[str, Array], name: str) -> bool:
    """Whether a tensor came, and is of the shape and type that it has to be."""
    return name in got and got[name].shape == expected[name].shape and got[name].dtype == np.float32


def _matches(reading: Reading, misread: Misread, expected: Expected, got: Mapping[str, Array]) -> bool:
    """Whether the step by a reading gives what came, and is not the right one."""
    values = misread(reading, OnFloat32(), np.asarray)
    if not all(_is_as_near(values[name], expected[name], array) for name, array in got.items()):
        return False
    own = misread(reading, OnNumbers(_exact), _exact)
    return all(judge(name, own[name], array).passed for name, array in got.items())


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
