"""Gradient checkpointing's price and gain: `python -m benchmarks.recompute [--library PATH] [--short]`, on one thread.

A step with layers computed again should take longer by their forward, and no more: beside each step stands what the
plain step and the forward of all layers, timed in the same rounds, make of that.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # isort: split (before NumPy)

from . import needed  # noqa: F401  isort: skip (before what it asks for)

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from bindings import Library
from reference.model import recompute, transformer
from reference.model.config import Config
from reference.model.parameters import Parameters, initialise
from reference.step import TrainingConfig, accumulate, start, training_step
from training.memory.heap import keep_freed_memory
from training.memory.ledger import Ledger, Watched
from training.memory.predict import Stages, parameters
from training.memory.shapes import Shapes

from .backends import AbsentError, find_library
from .cases import batch
from .interleaved import Rounds, Seconds, ratio, take_turns
from .machine import header
from .sizes import PUBLISHED, SHORT, SHORT_FORM

PLAIN, LAYERS = "none", "forward of all layers"


class Model(NamedTuple):
    """What is timed: an architecture, and tokens and targets for it."""

    config: Config
    tokens: Any
    targets: Any

    @property
    def policies(self) -> list[str]:
        """Every policy, with segments of one layer, two, the near-optimal number, and all."""
        nearest = len(recompute.Recompute("boundaries").segments(self.config.layers)[0])
        counts = sorted({1, 2, nearest, self.config.layers})
        return [f"{policy}:{k}" for policy in recompute.POLICIES for k in counts]


def main() -> None:
    """Print what is kept, and the time beside the plain step's."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", type=Path, help="the C build to time (default: the one in build/stub)")
    parser.add_argument("--rounds", type=int, default=10, help="in each of which all take turns (default: %(default)s)")
    parser.add_argument("--short", action="store_true", help="small sizes and few rounds")
    options = parser.parse_args()
    try:
        path = find_library(options.library)
    except AbsentError as error:
        parser.error(str(error))
    keep_freed_memory()
    sizes, layers, times = (SHORT, 4, SHORT.steps.most) if options.short else (PUBLISHED, 8, options.rounds)
    print(*header(path), *([SHORT_FORM] if options.short else []), sep="\n")
    model = Model(replace(sizes.config, layers=layers), *batch(sizes))
    ops = Library(path)
    expect_equal_bits(ops, model)
    # Of this process's own time, which other programs take least from.
    seconds = take_turns(works(ops, model), Rounds(times, times), clock=time.process_time)
    for line in table(ops, model, seconds):
        print(line)


def works(ops: Any, model: Model) -> dict[str, Callable[[], Any]]:
    """Whole steps by policy, and the layers' forward alone."""
    config, tokens = model.config, model.tokens
    state = start(initialise(config, seed=0, dtype=np.float32))
    given = (ops, config, TrainingConfig(), state, tokens, model.targets)
    steps = {text: partial(training_step, *given, recompute=recompute.read(text)) for text in (PLAIN, *model.policies)}
    freqs = transformer.rotary_angles(ops, config, tokens.shape[1])
    caches = [None] * config.layers
    forward = partial(transformer.trunk, ops, config, state.parameters, tokens, freqs, caches, 0)
    return steps | {LAYERS: forward}


def expect_equal_bits(ops: Any, model: Model) -> None:
    """See that every policy leaves the gradients of the plain step, bit for bit; SystemExit names one that does not."""
    given = (ops, model.config, initialise(model.config, seed=0, dtype=np.float32), model.tokens, model.targets)
    _, plain, _ = accumulate(*given)
    for text in model.policies:
        _, gradients, _ = accumulate(*given, recompute=recompute.read(text))
        for name, gradient in gradients.items():
            if gradient.tobytes() != plain[name].tobytes():
                sys.exit(f"{text}: expected the plain step's gradient of {name}, got other bits")


def table(ops: Any, model: Model, seconds: Seconds) -> Iterator[str]:
    """What each policy keeps and costs, beside what is predicted of both."""
    config, layers = model.config, ratio(seconds[LAYERS], seconds[PLAIN]).median
    step, forward = (f"{median(seconds[name]) * 1e3:.0f} ms" for name in (PLAIN, LAYERS))
    yield f"{config.layers} layers of width {config.hidden}, {' x '.join(map(str, model.tokens.shape))} tokens"
    yield f"plain step {step}, of which the layers' forward {forward}"
    yield "time: how many times the plain step's, round by round: median (quartiles)"
    yield f"{'computed again':<16}{'kept, MB':>10}{'predicted':>11}{'time':>26}{'predicted':>11}{'points':>8}"
    for text in (PLAIN, *model.policies):
        setting = recompute.read(text)
        again = sum(map(len, setting.segments(config.layers))) if setting else 0
        took, due = ratio(seconds[text], seconds[PLAIN]), 1 + again / config.layers * layers
        held = kept(ops, model, initialise(config, seed=0, dtype=np.float32), text)
        told = kept(Shapes(), model, parameters(config), text)
        points = 100 * (took.median - due)
        yield f"{text:<16}{held:>10.1f}{told:>11.1f}{took.to(3):>26}{due:>11.3f}{points:>+8.1f}"


def kept(ops: Any, model: Model, given: Parameters, text: str) -> float:
    """The megabytes of results alive when backward begins."""
    ledger = Ledger()
    stages = Stages(Watched(ops, ledger), ledger)
    accumulate(stages, model.config, given, model.tokens, model.targets, recompute=recompute.read(text))
    return stages.bytes_kept / 1e6


if __name__ == "__main__":
    main()
