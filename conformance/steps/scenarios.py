"""Which steps are judged: the tiny model over real text, from three starting points."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import reference
from conformance.limits.namespaces import converted
from reference import random
from reference.model.config import TINY, Config
from reference.model.parameters import initialise
from reference.step import State, TrainingConfig, start, training_step
from training.data import ByteTokenizer, digest, embedded_documents, tokenize

NUMBERS = (1, 2, 3)
BATCH, SEQ = 2, 64
CHOSEN = 9  # the batches: such that no routing choice of any step lies within the noise
# A start whose weights are large enough that every gradient is far from zero, and a schedule past its warm-up.
DEVIATION, TRAINING = 0.125, TrainingConfig(lr=1e-3, warmup=1, total=10)


@dataclass(frozen=True)
class Scenario:
    """One training step: the state it starts from (float32), and its batch."""

    number: int
    config: Config
    training: TrainingConfig
    state: State
    tokens: NDArray[np.int32]
    targets: NDArray[np.int32]
    text: str  # hash of the corpus's tokens: its text differs between Python versions


@functools.cache
def corpus() -> tuple[NDArray[Any], str]:
    """The embedded corpus as byte tokens, and their hash."""
    tokens = tokenize(embedded_documents(), ByteTokenizer())
    return tokens, digest(tokens)


def batch(number: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Tokens and targets of one step; a few targets are not counted."""
    tokens, _ = corpus()
    starts = random.integers(random.stream("batch", CHOSEN, number), 0, len(tokens) - SEQ - 1, (BATCH,))
    rows = np.stack([tokens[s : s + SEQ + 1] for s in starts]).astype(np.int32)
    targets = rows[:, 1:].copy()
    targets[:, ::17] = -1
    return np.ascontiguousarray(rows[:, :-1]), targets


@functools.cache
def scenario(number: int) -> Scenario:
    """Step 1 starts fresh; each later one where the reference stands after the ones before, rounded to float32."""
    if number == 1:
        state = start(initialise(TINY, seed=0, dtype=np.float32, deviation=DEVIATION))
    else:
        before = scenario(number - 1)
        tokens, targets = before.tokens, before.targets
        state = converted(before.state, lambda array: array.astype(np.float64))
        state, _ = training_step(reference, TINY, TRAINING, state, tokens, targets)
        state = converted(state, lambda array: array.astype(np.float32))
    return Scenario(number, TINY, TRAINING, state, *batch(number), corpus()[1])
