"""Training with everything where the library computes: the same bits as with host arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bindings import DeviceArray, Library
from reference.model import transformer
from reference.step import State, TrainingConfig, start, update
from tests.reference.model_samples import SMALL, batch, parameters

TRAINING = TrainingConfig(lr=1e-2, warmup=2, total=10)


def steps(library: Library, put: Any, count: int = 2) -> tuple[State, list[Any]]:
    """The state after some updates, and the losses."""
    state = start({name: put(array) for name, array in parameters(dtype=np.float32).items()})
    losses = []
    for index in range(count):
        tokens, targets = map(put, batch(seed=index))
        output = transformer.forward(library, SMALL, state.parameters, tokens)
        loss, log_probs = transformer.loss(library, output, targets)
        d_logits = library.cross_entropy_backward(log_probs, targets.reshape(-1), scale=0.03125)
        gradients = transformer.backward(library, SMALL, state.parameters, output, d_logits, 1.0)
        state, _ = update(library, TRAINING, state, gradients, rate=1e-2)
        losses.append(loss.total)
    return state, losses


@pytest.mark.usefixtures("device_memory")
@pytest.mark.parametrize("build", ["stub_path", "emulated_path"])
def test_a_resident_step_has_the_bits_of_one_on_host_arrays(build: str, request: pytest.FixtureRequest) -> None:
    path: Path = request.getfixturevalue(build)
    library = Library(path, resident=True)
    assert library.memory.space.on_device == (build == "emulated_path")
    expected, expected_losses = steps(Library(path), lambda array: array)
    state, losses = steps(library, lambda array: library.array(array.copy()))
    for kind in ("parameters", "m", "v"):
        for name, array in getattr(state, kind).items():
            assert isinstance(array, DeviceArray)
            np.testing.assert_array_equal(array.to_host(), getattr(expected, kind)[name], name)
    assert [loss.to_host()[0] for loss in losses] == [loss[0] for loss in expected_losses]
