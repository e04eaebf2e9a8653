"""What each wrong tensor of a whole step looks like: there is nothing to compare it with but the right one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.judging.diagnoses import Kind, Symptom
from conformance.judging.verdict import Verdict
from conformance.limits.expectation import Expected

from .failed import Failed, Undeclared
from .symptoms import symptom

Array = NDArray[Any]
# Of a whole tensor; experts' weights are stacked.
_AXES = {2: ("row", "column"), 3: ("expert", "row", "column")}


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


class _Tensor(Undeclared):
    """One tensor of it: whole, or as many places as a file holds."""

    @property
    def axes(self) -> tuple[str, ...]:
        return _AXES.get(self.got.ndim, ("element",))


def symptoms_of(expected: Expected, got: Mapping[str, Array], failed: Sequence[Verdict]) -> Iterator[Symptom]:
    """Yield the symptom of each wrong tensor; of a gradient with how far its norm is off, which is not told apart."""
    step = _Step("training_step", {}, expected, got, {})
    wrong = {verdict.output: verdict for verdict in failed}
    for name, verdict in wrong.items():
        kind, _, parameter = name.partition(".")
        if kind == "gradient_norm" and f"gradient.{parameter}" in wrong:
            continue
        if not is_comparable(step.expected, step.got, name):
            yield Symptom(Kind.NO_PATTERN, verdict.reason, outputs=(name,))
            continue
        found = symptom(_Tensor(step, name))
        words = [str(found.words)]
        is_whole = f"gradient_norm.{parameter}" not in step.expected
        if found.kind is Kind.NO_PATTERN and verdict.elements == 1:
            words = [f"{verdict.got / verdict.expected:.6g} times the right one"]
        elif found.kind is Kind.NO_PATTERN and is_whole:
            words = [_compared(step.got[name], step.expected[name])]
        elif verdict.wrong < verdict.elements and not is_whole:
            words.append(f", in {verdict.wrong} of {verdict.elements} places")
        if norm := wrong.get(f"gradient_norm.{parameter}" if kind == "gradient" else ""):
            words.append(f"; its norm is {norm.got / norm.expected:.6g} times the right one")
        place = found.place if is_whole and found.kind is not Kind.NO_PATTERN else ""
        yield replace(found, words="".join(words), place=place, outputs=(name,))


def _compared(got: Array, expected: Any) -> str:
    """How far a whole tensor is off the right one, in length and in direction."""
    came, right = (np.asarray(each, np.float64).reshape(-1) for each in (got, expected.v))
    lengths = np.linalg.norm(came), np.linalg.norm(right)
    cosine = float(came @ right / (lengths[0] * lengths[1]))
    return f"of no simple pattern; {lengths[0] / lengths[1]:.4g} times as long as the right one, cosine {cosine:.4g}"


def is_comparable(expected: Expected, got: Mapping[str, Array], name: str) -> bool:
    """Say whether a tensor came, and is of the shape and type that it has to be."""
    return name in got and got[name].shape == expected[name].shape and got[name].dtype == np.float32
