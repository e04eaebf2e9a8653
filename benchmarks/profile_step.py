"""Where a training step's time goes, operation by operation: `python -m benchmarks.profile_step [--library PATH]`."""

from __future__ import annotations

from . import threads  # noqa: F401  isort: skip (before NumPy)

import argparse
import time
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any

import reference
from bindings import Library
from reference.namespace import Ops, Wrapped
from reference.step import training_step

from .cases import TRAINING, batch, initial_state
from .sizes import PUBLISHED


class Timed(Wrapped):
    """A namespace of operations that adds up the seconds spent in each."""

    def __init__(self, ops: Ops) -> None:
        super().__init__(ops)
        self.seconds: dict[str, float] = defaultdict(float)
        self.calls: dict[str, int] = defaultdict(int)

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        start = time.perf_counter()
        results = super()._call(operation, *args, **named)
        self.seconds[operation] += time.perf_counter() - start
        self.calls[operation] += 1
        return results


def main() -> None:
    """Print milliseconds per operation: medians over the steps, the dearest first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", type=Path, help="a library instead of the reference")
    parser.add_argument("--steps", type=int, default=10)
    options = parser.parse_args()
    ops = Library(options.library) if options.library else reference
    state, (tokens, targets) = initial_state(PUBLISHED), batch(PUBLISHED)
    profiles: list[Timed] = []
    steps: list[float] = []
    for _ in range(2 + options.steps):
        profiles.append(Timed(ops))
        start = time.perf_counter()
        state, _ = training_step(profiles[-1], PUBLISHED.config, TRAINING, state, tokens, targets)
        steps.append(time.perf_counter() - start)
    report(profiles[2:], steps[2:])


def report(profiles: list[Timed], steps: list[float]) -> None:
    rate = PUBLISHED.batch * PUBLISHED.seq / median(steps)
    print(f"step {median(steps) * 1e3:.1f} ms, fastest {min(steps) * 1e3:.1f} ms, {rate:,.0f} tokens/s")
    medians = {name: median(p.seconds[name] for p in profiles) for name in profiles[0].seconds}
    for name, seconds in sorted(medians.items(), key=lambda pair: -pair[1]):
        print(f"{name:28}{seconds * 1e3:9.2f} ms {profiles[0].calls[name]:4} calls")
    print(f"{'outside operations':28}{(median(steps) - sum(medians.values())) * 1e3:9.2f} ms")


if __name__ == "__main__":
    main()
