"""Gradient checkpointing's price and gain: `python -m benchmarks.recompute [--library PATH]`, on one thread.

A step with layers computed again should take longer by their forward, and no more: beside each step stands what the
plain step and the forward of all layers, timed in the same rounds, make of that.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # isort: split (before NumPy)

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bindings import Library
from reference.model import recompute, transformer
from reference.model.config import BENCH
from reference.model.parameters import Parameters, initialise
from reference.step import TrainingConfig, accumulate, start, training_step
from training.memory.heap import keep_freed_memory
from training.memory.ledger import Ledger, Watched
from training.memory.predict import Stages, parameters
from training.memory.shapes import Shapes

from .backends import BUILT

CONFIG = replace(BENCH, layers=8)
BATCH, SEQ = 4, 128
NEAREST = len(recompute.Recompute("boundaries").segments(CONFIG.layers)[0])
POLICIES = [f"{policy}:{k}" for policy in recompute.POLICIES for k in (1, 2, NEAREST, CONFIG.layers)]
PLAIN, LAYERS = "none", "forward of all layers"


def main() -> None:
    """Print what is kept, and the time beside the plain step's."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", type=Path, help="the C build to time (default: the one in build/stub)")
    parser.add_argument("--rounds", type=int, default=10, help="in each of which all take turns (default: %(default)s)")
    options = parser.parse_args()
    keep_freed_memory()
    ops = Library(options.library or next(BUILT.glob("*assayer_stub.so")))
    for line in table(ops, timed(works(ops), options.rounds)):
        print(line)


def works(ops: Any) -> dict[str, Callable[[], Any]]:
    """Whole steps by policy, and the layers' forward alone."""
    state, batch = start(initialise(CONFIG, seed=0, dtype=np.float32)), tokens_and_targets()
    freqs = transformer.rotary_angles(ops, CONFIG, SEQ)
    given = (ops, CONFIG, TrainingConfig(), state, *batch)
    steps = {text: partial(training_step, *given, recompute=recompute.read(text)) for text in (PLAIN, *POLICIES)}
    caches = [None] * CONFIG.layers
    forward = partial(transformer.trunk, ops, CONFIG, state.parameters, batch[0], freqs, caches, 0)
    return steps | {LAYERS: forward}


def tokens_and_targets() -> tuple[Any, Any]:
    """One batch."""
    drawn = np.random.default_rng(0)
    tokens, targets = (drawn.integers(0, CONFIG.vocab, (BATCH, SEQ), np.int32) for _ in range(2))
    return tokens, targets


def timed(works: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Seconds of this process's time that each takes: the fastest of its rounds, since all that differs slows down."""
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(1 + rounds):
        for name, work in works.items():
            begun = time.process_time()
            work()
            seconds[name].append(time.process_time() - begun)
    return {name: min(each[1:]) for name, each in seconds.items()}


def table(ops: Any, seconds: dict[str, float]) -> Iterator[str]:
    """What each policy keeps and costs, beside what is predicted of both."""
    yield f"{CONFIG.layers} layers of width {CONFIG.hidden}, {BATCH} x {SEQ} tokens"
    yield f"plain step {seconds[PLAIN] * 1e3:.0f} ms, of which the layers' forward {seconds[LAYERS] * 1e3:.0f} ms"
    yield f"{'computed again':<16}{'kept, MB':>10}{'predicted':>11}{'time':>8}{'predicted':>11}{'points':>8}"
    for text in (PLAIN, *POLICIES):
        setting = recompute.read(text)
        again = sum(map(len, setting.segments(CONFIG.layers))) if setting else 0
        due = 1 + again / CONFIG.layers * seconds[LAYERS] / seconds[PLAIN]
        took = seconds[text] / seconds[PLAIN]
        held, told = (
            kept(ops, initialise(CONFIG, seed=0, dtype=np.float32), text),
            kept(Shapes(), parameters(CONFIG), text),
        )
        yield f"{text:<16}{held:>10.1f}{told:>11.1f}{took:>8.3f}{due:>11.3f}{100 * (took - due):>+8.1f}"


def kept(ops: Any, given: Parameters, text: str) -> float:
    """The megabytes of results alive when backward begins."""
    ledger = Ledger()
    stages = Stages(Watched(ops, ledger), ledger)
    accumulate(stages, CONFIG, given, *tokens_and_targets(), recompute=recompute.read(text))
    return stages.bytes_kept / 1e6


if __name__ == "__main__":
    main()
