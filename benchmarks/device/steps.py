"""Training steps where the library computes, captured once and launched: `python -m benchmarks.device.steps`."""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

from benchmarks.cases import TRAINING
from benchmarks.machine import header
from benchmarks.sizes import SHORT_FORM
from bindings import Library
from reference.model.config import BENCH, FULL, TINY, Config
from reference.model.parameters import initialise
from training.precision import PRECISIONS, Precision
from training.resident.step import ResidentStep


class Size(NamedTuple):
    """A model, a batch of sequences, and the steps that are timed."""

    name: str
    config: Config
    batch: int
    seq: int
    steps: int = 10


SIZES = (
    Size("bench", BENCH, 4, 128),
    Size("bench", BENCH, 16, 512),
    Size("full, 2 of 30 layers", replace(FULL, layers=2), 4, 2048),
)
SHORT = (Size("tiny", TINY, 2, 16, 1),)
UNCOUNTED = 3  # the first loads the kernels, the second is called, the third captured


def main() -> None:
    """Print milliseconds of a step and tokens a second, by size and precision."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", type=Path, required=True, help="the library to time")
    parser.add_argument("--short", action="store_true", help="a tiny model, one step")
    options = parser.parse_args()
    print(*header(options.library), *([SHORT_FORM] if options.short else []), sep="\n")
    for size in SHORT if options.short else SIZES:
        for name, precision in PRECISIONS.items():
            library = Library(options.library, resident=True)  # anew, so that its cache is given back
            seconds = median(_steps(library, size, precision))
            rate = size.batch * size.seq / seconds
            of = f"{size.name}, {size.batch} x {size.seq}"
            print(f"{of:<36}{name:>8}{seconds * 1e3:>10.2f} ms{rate:>12,.0f} tokens/s", flush=True)


def _steps(library: Library, size: Size, precision: Precision) -> list[float]:
    """The seconds of each step, waited for."""
    step = ResidentStep(library, size.config, TRAINING, precision=precision)
    standing = step.start(initialise(size.config, seed=0, dtype=np.float32))
    rng, seconds = np.random.default_rng(1), []
    for _ in range(UNCOUNTED + size.steps):
        tokens, targets = (rng.integers(0, size.config.vocab, (size.batch, size.seq), np.int32) for _ in range(2))
        library.synchronize()
        begun = time.perf_counter()
        standing, _ = step(standing, tokens, targets)
        library.synchronize()
        seconds.append(time.perf_counter() - begun)
    return seconds[UNCOUNTED:]


if __name__ == "__main__":
    main()
