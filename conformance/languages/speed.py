"""How fast the training step runs on libraries in turn, so that a busy machine is busy for all of them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from bindings import Library
from conformance.steps.scenarios import scenario
from reference.step import State, training_step

_ROUNDS = 40


def tokens_per_second(libraries: Mapping[str, Path], rounds: int = _ROUNDS) -> dict[str, float]:
    """The best of some rounds of each, one step after another, called through the bindings."""
    given = scenario(1)
    opened = {name: Library(path) for name, path in libraries.items()}
    states = {name: _copied(given.state) for name in opened}
    best = dict.fromkeys(opened, float("inf"))
    for _ in range(rounds):
        for name, library in opened.items():
            begun = time.perf_counter()
            states[name], _ = training_step(
                library, given.config, given.training, states[name], given.tokens, given.targets
            )
            best[name] = min(best[name], time.perf_counter() - begun)
    return {name: given.tokens.size / seconds for name, seconds in best.items()}


def _copied(state: State) -> State:
    """A library updates its arrays in place."""
    p, m, v = ({name: array.copy() for name, array in held.items()} for held in (state.parameters, state.m, state.v))
    return State(p, m, v, state.step)
