"""The golden training step: an honest float32 step passes, one in lower precision does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference
from conformance.catalogue.goldens import load_tensors, profiles
from conformance.catalogue.goldens.step import given_parameters, parameters, results
from conformance.catalogue.goldens.tensors import Tensors, unpack_expected
from conformance.judging.verdict import judge


@pytest.fixture(scope="module")
def golden() -> Tensors:
    [id] = [id for id in profiles.sources(profiles.COMMITTED) if id.startswith("training_step/")]
    held = load_tensors(id)
    assert held is not None
    return held


def reasons(golden: Tensors, start: dict[str, Any]) -> list[str]:
    """What is wrong with a float32 step from these parameters."""
    found, _ = results(reference, start, golden)
    verdicts = [judge(name, wanted, found[name]) for name, wanted in unpack_expected(golden).items()]
    return [f"{v.output}: {v.reason}" for v in verdicts if not v.passed]


def test_an_honest_step_passes(golden: Tensors) -> None:
    assert reasons(golden, given_parameters(golden)) == []


def test_the_parameters_stand_in_the_golden(golden: Tensors) -> None:
    held, made = given_parameters(golden), parameters()
    assert {*held} == {*made}
    assert all((held[name] == array).all() and held[name].dtype == np.float32 for name, array in made.items())


def test_weights_rounded_to_tf32_fail_everywhere(golden: Tensors) -> None:
    rounded = {name: (array.view(np.int32) + 0x1000 & -0x2000).view(np.float32) for name, array in parameters().items()}
    wrong = {reason.partition(":")[0] for reason in reasons(golden, rounded)}
    assert {f"gradient.{name}" for name in rounded} <= wrong


def test_every_gradient_is_looked_at(golden: Tensors) -> None:
    for name, array in parameters().items():
        places = golden[f"input.places.{name}"]
        assert len(np.unique(places)) == min(64, array.size)
        assert (golden[f"expected.gradient.{name}"] != 0).any()
