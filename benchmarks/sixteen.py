"""What 16 bits cost on the C build, beside float32: `python -m benchmarks.sixteen [--library PATH]`.

Every operation of a training step by itself, at the sizes it has there, and whole steps in mixed precision.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from bindings import Library
from conformance import operations
from reference.model.config import BENCH
from training.memory.heap import keep_freed_memory
from training.precision import PRECISIONS, Precision
from training.step import Step

from .backends import BUILT
from .cases import BATCH, SEQ, TRAINING, Case, batch, initial_state, of_a_step

Works = dict[str, Callable[[], Any]]


def main() -> None:
    """Print times in each format, and how many times as long as in float32 that is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", type=Path, help="the C build to time (default: the one in build/stub)")
    parser.add_argument("--rounds", type=int, default=20, help="in each of which all take turns (default: %(default)s)")
    options = parser.parse_args()
    keep_freed_memory()
    library = Library(options.library or next(BUILT.glob("*assayer_stub.so")))
    print(f"{'fastest of all rounds, ms':<28}{'float32':>10}{'bf16':>10}{'fp16':>10}{'ratios':>14}")
    for operation, cases in sixteen_bit(of_a_step()).items():
        every = [timed(calls(library, case), options.rounds) for case in cases]
        print(line(operation, {name: sum(each[name] for each in every) for name in PRECISIONS}))
    steps = {name: step(library, precision) for name, precision in PRECISIONS.items()}
    print(line(f"training step, {BATCH} x {SEQ}", timed(steps, options.rounds)))


def sixteen_bit(known: Mapping[str, Case]) -> dict[str, list[Case]]:
    """The calls of a step by operation, of those that have a 16-bit form for the same arguments."""
    found = defaultdict(list)
    for case in known.values():
        form = operations.OPERATIONS.get(f"{case.operation}_bf16")
        if (
            form
            and operations.signature(form).names == operations.signature(operations.OPERATIONS[case.operation]).names
        ):
            found[case.operation].append(case)
    return found


def calls(library: Library, case: Case) -> Works:
    """The same call in each format."""
    made: Works = {}
    for name in PRECISIONS:
        operation = case.operation if name == "float32" else f"{case.operation}_{name}"
        arguments = operations.as_declared(operation, dict(case.arguments))
        made[name] = partial(getattr(library, operation), **arguments)
    return made


def step(library: Library, precision: Precision) -> Callable[[], None]:
    """A training step that goes on where the last one ended."""
    once, given = Step(library, BENCH, TRAINING, precision=precision), batch()
    standing = once.start(initial_state().parameters)

    def go_on() -> None:
        nonlocal standing
        standing, _ = once(standing, *given)

    return go_on


def timed(works: Works, rounds: int) -> dict[str, float]:
    """Seconds of each, the fastest of its rounds, since all that differs slows down."""
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(1 + rounds):
        for name, work in works.items():
            begun = time.perf_counter()
            work()
            seconds[name].append(time.perf_counter() - begun)
    return {name: min(each[1:]) for name, each in seconds.items()}


def line(what: str, seconds: Mapping[str, float]) -> str:
    """A row of the table."""
    times = "".join(f"{1e3 * each:>10.2f}" for each in seconds.values())
    ratios = "".join(f"{seconds[name] / seconds['float32']:>7.2f}" for name in ("bf16", "fp16"))
    return f"{what:<28}{times}{ratios}"


if __name__ == "__main__":
    main()
