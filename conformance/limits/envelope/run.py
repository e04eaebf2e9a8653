"""The runs: steps of the tiny model on real text that is the same everywhere: golden/training_run.txt, a licence."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import reference
from conformance.limits.namespaces import OnNumbers, OnStored, converted
from conformance.paths import GOLDEN
from reference import random
from reference.model.config import TINY, Config
from reference.model.parameters import Parameters, initialise
from reference.step import TrainingConfig
from training.data import ByteTokenizer
from training.precision import BF16, FLOAT32, Precision, Scaling
from training.step import Report, Standing, Step

Batch = tuple[NDArray[np.int32], NDArray[np.int32]]

TEXT = GOLDEN / "training_run.txt"  # a few pages of English that no reformatting touches
# Weights large enough that every gradient is far from zero; a decay that float32 holds exactly, since tables of numbers
# reach the reference as they are.
DEVIATION, DECAY = 0.125, 0.125


@dataclass(frozen=True)
class Run:
    """A training run that is judged: in which precision, on which text, how many steps of what size."""

    precision: Precision = FLOAT32
    seed: int = 0
    steps: int = 10
    batch: int = 2
    seq: int = 32
    config: Config = TINY
    lr: float = 1e-3

    @property
    def suffix(self) -> str:
        """What its names end in; float32's do not say so."""
        return f"-{self.precision.format}" if self.precision.is_mixed else ""

    @property
    def training(self) -> TrainingConfig:
        """Warm-up and decline within the run; in float32, the end of the schedule too."""
        return TrainingConfig(lr=self.lr, weight_decay=DECAY, warmup=2, total=LENGTH)


LENGTH = 10
RUN = Run(steps=LENGTH)  # the seeds are such that no routing choice lies within the noise
# In 16 bits runs part sooner: a smaller model, fewer and smaller steps.
_SMALL = Config(hidden=32, layers=2, q_heads=4, kv_heads=1, head_dim=8, experts=4, top_k=2, ffn=64, vocab=257)
_MIXED = Run(steps=8, batch=1, seq=8, config=_SMALL, lr=1e-4)
# Gradients overflow at the first three scales, whoever computes them, and at the third again when it has grown back.
_SCALING = Scaling(start=2.0**19, interval=2)
MIXED = (
    replace(_MIXED, precision=BF16, seed=22, steps=4, seq=4),
    replace(_MIXED, precision=Precision(format="fp16", scaling=_SCALING), seed=15),
)
RUNS = (RUN, *MIXED)


@functools.cache
def _text() -> NDArray[np.int32]:
    text = TEXT.read_bytes().replace(b"\r\n", b"\n").decode()
    return ByteTokenizer().encode(text).astype(np.int32)


def batches(run: Run) -> list[Batch]:
    """Tokens and targets of each step, int32 [batch, seq]; a few targets are not counted."""
    found = []
    for number in range(1, run.steps + 1):
        starts = random.integers(
            random.stream("training run", run.seed, number), 0, _text().size - run.seq, (run.batch,)
        )
        rows = np.stack([_text()[s : s + run.seq + 1] for s in starts])
        targets = rows[:, 1:].copy()
        targets[:, ::17] = -1
        found.append((np.ascontiguousarray(rows[:, :-1]), targets))
    return found


def beginning(run: Run) -> Standing:
    """Where the run starts, in float32."""
    step = Step(reference, run.config, run.training, precision=run.precision)
    return step.start(initialise(run.config, seed=0, dtype=np.float32, deviation=DEVIATION))


def in_numbers(run: Run, convert: Callable[[Any], Any]) -> Standing:
    """Where a float32 run starts, in another kind of number."""
    standing = beginning(run)
    return standing._replace(state=converted(standing.state, convert))


def step(
    ops: Any, run: Run, standing: Standing, tokens: NDArray[Any], targets: NDArray[Any]
) -> tuple[Standing, Report]:
    """One step on a namespace of operations (a library: in its worker)."""
    return Step(ops, run.config, run.training, precision=run.precision)(standing, tokens, targets)


def follow(ops: Any, run: Run, standing: Standing) -> Iterator[tuple[Standing, Report]]:
    """Run on, and yield after each step where training stands and what the step reports."""
    for tokens, targets in batches(run):
        standing, report = step(ops, run, standing, tokens, targets)
        yield standing, report


def exact_operations(run: Run) -> Any:
    """The reference in float64, of mixed precision with every result stored as the header has it."""
    return (OnStored if run.precision.is_mixed else OnNumbers)(lambda value: np.asarray(value, np.float64))


def exact_beginning(run: Run) -> Standing:
    """Where the reference starts."""
    return beginning(run) if run.precision.is_mixed else in_numbers(run, lambda array: array.astype(np.float64))


@functools.cache
def operations(run: Run) -> frozenset[str]:
    """The operations that a step calls."""
    ops = exact_operations(run)
    next(follow(ops, run, exact_beginning(run)))
    return frozenset(ops.used)


@functools.lru_cache(maxsize=len(RUNS))
def standing_by_step(run: Run) -> list[tuple[Standing, Report]]:
    """Where the reference stands after each step, and its reports: what others are measured from."""
    return list(follow(exact_operations(run), run, exact_beginning(run)))


def distance(parameters: Parameters, origin: Parameters) -> dict[str, float]:
    """The norm of every parameter's difference from another's, by name."""
    return {
        name: float(np.linalg.norm(np.asarray(array, np.float64) - origin[name])) for name, array in parameters.items()
    }
