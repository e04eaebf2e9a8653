"""What a whole step that was handed in looks like: a wrong reading of the step, and each wrong tensor.

A step is no call of an operation: there is nothing to compare its tensors with but the right ones, and those of the
wrong readings of a step, each of which computes it once more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

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
_NAMED = 3  # wrong tensors behind the first that the sentence names
_TRAINING = TrainingConfig(clip_norm=golden.CLIP_NORM)


def diagnose_step(
    inputs: Mapping[str, Array], expected: Expected, got: Mapping[str, Array], verdicts: Sequence[Verdict]
) -> Diagnosis | None:
    """Say what a wrong step looks like; None where it is right.

    inputs: the golden's.  verdicts: in the order in which the step comes to its tensors, so that the first is where
    it began.  Every wrong tensor has a symptom; a parameter's gradient and its norm share one.
    """
    failed = [verdict for verdict in verdicts if not verdict.passed]
    if not failed:
        return None
    with np.errstate(all="ignore"):
        names = [reading.name for reading in GRADIENTS if _matches(reading, inputs, expected, got)]
        symptoms = tuple(_symptoms(_Step("training_step", {}, expected, got, {}), failed))
    if names:
        return replace(of_readings(names), symptoms=symptoms)
    return Diagnosis(_sentence(symptoms), symptoms=symptoms)


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
    """One tensor of it, of which some places are known."""

    def poison(self, run: int) -> Array:
        return poison(np.dtype(np.float32), run)


def _symptoms(step: _Step, failed: Sequence[Verdict]) -> Iterator[Symptom]:
    """The symptom of each wrong tensor; of a gradient with how far its norm is off, which is not told apart."""
    wrong = {verdict.output: verdict for verdict in failed}
    for name, verdict in wrong.items():
        kind, _, parameter = name.partition(".")
        if kind == "gradient_norm" and f"gradient.{parameter}" in wrong:
            continue
        found = symptom(_Tensor(step, name))
        words = str(found.words)
        if found.kind is Kind.NO_PATTERN and verdict.elements == 1:
            words = f"{words}, {verdict.got / verdict.expected:.6g} times the right one"
        if verdict.wrong < verdict.elements:
            words = f"{words}, in {verdict.wrong} of {verdict.elements} places"
        if norm := wrong.get(f"gradient_norm.{parameter}" if kind == "gradient" else ""):
            words = f"{words}; its norm is {norm.got / norm.expected:.6g} times the right one"
        yield replace(found, words=words, place="", outputs=(name,))


def _matches(reading: Reading, inputs: Mapping[str, Array], expected: Expected, got: Mapping[str, Array]) -> bool:
    """Whether the step by a reading gives what came, and is not the right one."""
    values = results_of(reading, OnFloat32(), start(golden.parameters()), inputs)
    if not all(_is_as_near(values[name], expected[name], array) for name, array in got.items()):
        return False
    noisy = converted(start(golden.parameters()), lambda array: exact(array, worst=False))
    own = results_of(reading, OnNumbers(lambda array: exact(array, worst=False)), noisy, inputs)
    return all(judge(name, own[name], array).passed for name, array in got.items())


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
