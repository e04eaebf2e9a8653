"""The whole training step, clipping and AdamW included: the backends take turns, so that all see the same machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reference.model.config import BENCH
from reference.step import training_step

from .backends import Backends
from .cases import BATCH, SEQ, TRAINING, batch, initial_state
from .table import BACKENDS

TURNS, STEPS = 4, 6


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("turn", range(TURNS))
def test_training_step(turn: int, backend: str, backends: Backends, timed: Callable[..., None]) -> None:
    step = in_torch(backends) if backend == "PyTorch" else native(backends.operations(backend))
    timed("training step", backend, step, rounds=STEPS, tokens=BATCH * SEQ)


def native(ops: Any) -> Callable[[], Any]:
    state, (tokens, targets) = initial_state(), batch()

    def step() -> None:
        nonlocal state
        state, _ = training_step(ops, BENCH, TRAINING, state, tokens, targets)

    return step


def in_torch(backends: Backends) -> Callable[[], Any]:
    peer, tokens, targets = backends.peer()
    return lambda: peer.training_step(tokens, targets)
