"""Every kind of record: its gradients against central differences, by the bound that these have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graph
import reference
from graph.kinds import KINDS
from tests.graph.samples import SAMPLES, Sample
from tests.reference.differences import Case, check_directions


def test_every_kind_has_a_sample() -> None:
    assert {record["kind"] for sample in SAMPLES.values() for record in sample.records} == {*KINDS}


def case_of(sample: Sample) -> Case:
    """The sample's loss as a function of all that has a gradient; probabilities move about 1/2, a share of the rest."""
    checked, run = sample.checked(), graph.Run(sample.checked(), reference)
    fixed = sample.arrays()
    moved = [*checked.trainable, *(name for name in checked.graph.inputs if name in checked.contributing)]
    shares = {name: 1.0 / 16.0 if name in sample.positive else 1.0 for name in moved}

    def evaluated(inputs: dict[str, Any]) -> graph.Forward:
        placed = {name: (shares[name] < 1) * 0.5 + shares[name] * array for name, array in inputs.items()}
        return run.forward({**fixed, **placed}, seed=3)

    def forward(**inputs: Any) -> Any:
        return np.array([evaluated(inputs).loss])

    def backward(inputs: dict[str, Any], d_loss: Any) -> dict[str, Any]:
        found = run.backward(evaluated(inputs))
        gradients = found.parameters | found.values
        return {name: gradients[name] * (shares[name] * d_loss[0]) for name in inputs}

    name = "graph " + " ".join(record["kind"] for record in sample.records)
    return Case(name, {name: checked.shapes[name] for name in moved}, forward, backward)


@pytest.mark.parametrize("name", SAMPLES)
def test_gradients_of_every_kind(name: str) -> None:
    check_directions(case_of(SAMPLES[name]))


@pytest.mark.parametrize("name", ["dense", "conv2d", "lstm", "mse"])
def test_the_checker_finds_a_wrong_gradient(name: str) -> None:
    case = case_of(SAMPLES[name])

    def wrong(inputs: dict[str, Any], d_loss: Any) -> dict[str, Any]:
        return {name: 1.001 * gradient for name, gradient in case.backward(inputs, d_loss).items()}

    with pytest.raises(AssertionError):
        check_directions(Case(case.operation, case.shapes, case.forward, wrong))
