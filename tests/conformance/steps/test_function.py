"""What a step that is one function is held to: the golden's own limits, and every misreading of a step shows."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.catalogue.goldens import load_tensors
from conformance.catalogue.goldens.compare import compare
from conformance.catalogue.goldens.tensors import pack_expected
from conformance.catalogue.prepared import MemoryStore
from conformance.judging.outputs import as_stored
from conformance.judging.verdict import judge
from conformance.limits.expectation import Expected
from conformance.limits.namespaces import OnFloat32
from conformance.steps.function import ID
from conformance.steps.function.expected import beginning, expected, in_order, inputs, results_of
from reference.model.config import TINY
from reference.model.parameters import held_shapes
from reference.readings import Reading
from reference.readings.step import READINGS

# One micro-batch has none before it, and the update is not past the schedule's end.
UNSEEN = {"micro-batches assigned", "rises again after total"}


@pytest.fixture(scope="module")
def due() -> Expected:
    return as_stored(expected(MemoryStore()))


def test_loss_and_gradients_have_the_limits_of_the_golden(due: Expected) -> None:
    held = load_tensors(ID)
    assert held is not None
    whole = {name: due[name] for name in ("loss", "cross_entropy", "aux_loss", "norm")}
    whole |= {
        f"gradient.{name}": due[f"gradient.{name}"].reshape(-1)[held[f"input.places.{name}"]]
        for name in held_shapes(TINY)
    }
    found = pack_expected(whole)
    parts = [name for name in held if name.partition(".")[0] in ("expected", "sigma", "shared")]
    of_results = [name for name in parts if name.partition(".")[2] in whole]
    assert len(of_results) == 3 * len(whole)
    assert compare(ID, {name: held[name] for name in of_results}, {name: found[name] for name in of_results}) == []


def test_every_result_has_its_place_in_the_order(due: Expected) -> None:
    assert sorted(in_order()) == sorted(due)


@pytest.mark.parametrize("reading", READINGS, ids=lambda reading: reading.name)
def test_a_misread_step_fails(reading: Reading, due: Expected) -> None:
    held = inputs()
    batch = held["input.tokens"], held["input.targets"]
    came = results_of(OnFloat32(), beginning(), *batch, reading.function)
    passed = all(judge(name, due[name], np.asarray(came[name], np.float32)).passed for name in in_order())
    assert passed is (reading.name in UNSEEN)
