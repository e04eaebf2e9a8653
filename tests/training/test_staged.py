"""Ranks that train where a library computes: the same bits as ranks that train on host arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bindings import DeviceArray, Library
from tests.reference.model_samples import SMALL, parameters
from tests.training.ranks_run import TRAINING, batch_of
from training.ranks import Staged, taking_turns
from training.resident import ResidentStep, on_host
from training.step import Step


@pytest.fixture(params=["stub", "emulated"])
def path(request: pytest.FixtureRequest, device_memory: None) -> Path:
    """The emulated device claims memory of its own."""
    found: Path = request.getfixturevalue(f"{request.param}_path")
    return found


def two_steps(step: Step, ranks: Any) -> Any:
    standing = step.start(parameters(dtype=np.float32))
    for number in range(2):
        standing, _ = step(standing, *(np.split(whole, ranks.size)[ranks.rank] for whole in batch_of(number)))
    return standing


def test_the_same_bits_as_on_host_arrays(path: Path) -> None:
    def resident(ranks: Any) -> Any:
        standing = two_steps(ResidentStep(Library(path, resident=True), SMALL, TRAINING, ranks=ranks), ranks)
        assert all(isinstance(array, DeviceArray) for array in standing.state.v.values())
        return on_host(standing).state

    expected = taking_turns(2, lambda ranks: two_steps(Step(Library(path), SMALL, TRAINING, ranks=ranks), ranks).state)
    for ours, theirs in zip(taking_turns(2, resident), expected, strict=True):
        assert all((ours.parameters[name] == array).all() for name, array in theirs.parameters.items())


def test_rows_are_traded(path: Path) -> None:
    def work(ranks: Any) -> Any:
        library = Library(path, resident=True)
        parts = [library.array(np.full((2, 3), 10.0 * ranks.rank + to, np.float32)) for to in range(2)]
        return [rows.to_host()[0, 0] for rows in Staged(ranks, library).trade(parts)]

    assert taking_turns(2, work) == [[0, 10], [1, 11]]
