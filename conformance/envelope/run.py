"""The run: steps of the tiny model on real text that is the same everywhere, the licence of this project."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.carried import Carried, converted
from reference import random
from reference.model.config import TINY as CONFIG
from reference.model.parameters import Parameters, initialise
from reference.step import State, TrainingConfig, start, training_step
from training.data import ByteTokenizer

Batch = tuple[NDArray[np.int32], NDArray[np.int32]]

TEXT = Path(__file__).parents[2] / "LICENSE"
STEPS, BATCH, SEQ = 10, 2, 32
# Weights large enough that every gradient is far from zero; warm-up, decline and end of the schedule within the run;
# a decay that float32 holds exactly, since tables of numbers reach the reference as they are.
DEVIATION = 0.125
TRAINING = TrainingConfig(lr=1e-3, weight_decay=0.125, warmup=2, total=STEPS)


@functools.cache
def _text() -> NDArray[np.int32]:
    text = TEXT.read_bytes().replace(b"\r\n", b"\n").decode()
    return ByteTokenizer().encode(text).astype(np.int32)


def batches(seed: int, steps: int = STEPS) -> list[Batch]:
    """Tokens and targets of each step, int32 [BATCH, SEQ]; a few targets are not counted."""
    found = []
    for number in range(1, steps + 1):
        starts = random.integers(random.stream("training run", seed, number), 0, _text().size - SEQ, (BATCH,))
        rows = np.stack([_text()[s : s + SEQ + 1] for s in starts])
        targets = rows[:, 1:].copy()
        targets[:, ::17] = -1
        found.append((np.ascontiguousarray(rows[:, :-1]), targets))
    return found


def beginning() -> State:
    """Where the run starts, in float32."""
    return start(initialise(CONFIG, seed=0, dtype=np.float32, deviation=DEVIATION))


def step(ops: Any, state: State, tokens: NDArray[Any], targets: NDArray[Any]) -> tuple[State, Any]:
    """One step on a namespace of operations (a library: in its worker): the state after it, and the loss [1]."""
    state, metrics = training_step(ops, CONFIG, TRAINING, state, tokens, targets)
    return state, metrics.loss


def follow(ops: Any, state: State, given: Iterable[Batch]) -> Iterator[tuple[State, Any]]:
    """Run on, and yield the state after each step and its loss."""
    for tokens, targets in given:
        state, loss = step(ops, state, tokens, targets)
        yield state, loss


def in_float64() -> Carried:
    """The reference in float64, as exact as it gets."""
    return Carried(lambda value: np.asarray(value, np.float64))


@functools.cache
def operations() -> frozenset[str]:
    """The operations that a step calls."""
    ops = in_float64()
    step(ops, beginning(), *batches(seed=0, steps=1)[0])
    return frozenset(ops.used)


@functools.lru_cache(maxsize=1)
def parameters_by_step(seed: int, steps: int) -> list[Parameters]:
    """The parameters after each step in float64: what distances are measured from."""
    state = converted(beginning(), lambda array: array.astype(np.float64))
    return [state.parameters for state, _ in follow(in_float64(), state, batches(seed, steps))]


def distance(parameters: Parameters, origin: Parameters) -> dict[str, float]:
    """The norm of every parameter's difference from another's, by name."""
    return {
        name: float(np.linalg.norm(np.asarray(array, np.float64) - origin[name])) for name, array in parameters.items()
    }
