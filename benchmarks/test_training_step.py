"""The whole training step, clipping and AdamW included."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

import pytest

from reference.step import training_step

from .backends import PYTORCH, Backends
from .cases import TRAINING, batch, initial_state
from .interleaved import take_turns
from .sizes import Sizes
from .table import Table

STEP = "training step"
pytestmark = pytest.mark.usefixtures("agreed_step")


def test_time(backend: str, backends: Backends, sizes: Sizes, timed: Callable[..., None]) -> None:
    timed(STEP, backend, step_of(backend, backends, sizes), rounds=sizes.steps.least)


def test_ratio(backends: Backends, sizes: Sizes, table: Table) -> None:
    seconds = take_turns({name: step_of(name, backends, sizes) for name in backends.names}, sizes.steps)
    table.add_ratios(STEP, seconds)
    tokens = sizes.batch * sizes.seq
    rates = ", ".join(f"{name} {tokens / median(each):,.0f}" for name, each in seconds.items())
    table.notes.append(f"{STEP}, tokens/s in turn: {rates}")


def step_of(backend: str, backends: Backends, sizes: Sizes) -> Callable[[], Any]:
    """A training step that goes on where the last one ended."""
    if backend == PYTORCH:
        peer, *given = backends.peer(sizes)
        return lambda: peer.training_step(*given)
    state, (tokens, targets) = initial_state(sizes), batch(sizes)
    ops = backends.operations(backend)

    def step() -> None:
        nonlocal state
        state, _ = training_step(ops, sizes.config, TRAINING, state, tokens, targets)

    return step
