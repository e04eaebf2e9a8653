"""What 16 bits cost on the C build, beside float32: `python -m benchmarks.sixteen [--short] [--peers]`.

Every operation of a training step by itself, at the sizes it has there, and whole steps in mixed precision; with
--peers a product and the step beside PyTorch's.
"""

from __future__ import annotations

from . import threads  # noqa: F401  isort: skip (before NumPy)

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import median

from bindings import Library
from conformance import operations
from training.memory.heap import keep_freed_memory
from training.precision import PRECISIONS, Precision
from training.step import Step

from .agreement import shortened, wrong
from .backends import AbsentError, find_library
from .cases import TRAINING, Case, batch, initial_state, of_a_step
from .interleaved import Rounds, Seconds, ratio, take_turns
from .machine import header
from .sizes import PUBLISHED, SHORT, SHORT_FORM, Sizes

WIDE = "float32"
HALVES = tuple(name for name in PRECISIONS if name != WIDE)


def main() -> None:
    """Print times in each format, and how many times as long as in float32 that is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", type=Path, help="the C build to time (default: the one in build/stub)")
    parser.add_argument("--rounds", type=int, default=20, help="in each of which all take turns (default: %(default)s)")
    parser.add_argument("--short", action="store_true", help="small sizes and few rounds")
    parser.add_argument("--peers", action="store_true", help="a product and the step beside PyTorch's too")
    options = parser.parse_args()
    sizes, rounds = (SHORT, SHORT.operations) if options.short else (PUBLISHED, Rounds(options.rounds, options.rounds))
    try:
        path = find_library(options.library)
    except AbsentError as error:
        parser.error(str(error))
    keep_freed_memory()
    print(*header(path), *([SHORT_FORM] if options.short else []), sep="\n")
    library = Library(path)
    report(library, sizes, rounds)
    if options.peers:
        from .sixteen_peers import compare

        compare(library, {name: step(library, PRECISIONS[name], sizes) for name in (WIDE, "bf16")}, sizes, rounds)


def report(library: Library, sizes: Sizes, rounds: Rounds) -> None:
    """Print a row for each operation and one for the whole step."""
    print("median ms; times as long as float32, round by round: median (quartiles)")
    print(f"{'':<28}" + "".join(f"{n:>10}" for n in PRECISIONS) + "".join(f"{f'{n} / {WIDE}':>26}" for n in HALVES))
    for operation, cases in sixteen_bit(of_a_step(sizes)).items():
        every = [take_turns(calls(library, case), rounds) for case in cases]
        print(line(operation, {name: added([each[name] for each in every]) for name in PRECISIONS}), flush=True)
    steps = {name: step(library, precision, sizes) for name, precision in PRECISIONS.items()}
    print(line(f"training step, {sizes.batch} x {sizes.seq}", take_turns(steps, rounds)))


def sixteen_bit(known: Mapping[str, Case]) -> dict[str, list[Case]]:
    """The calls of a step by operation, of those that have a 16-bit form for the same arguments."""
    found = defaultdict(list)
    for case in known.values():
        form = operations.OPERATIONS.get(f"{case.operation}_{HALVES[0]}")
        same = form and operations.signature(form).names
        if same == operations.signature(operations.OPERATIONS[case.operation]).names:
            found[case.operation].append(case)
    return found


def calls(library: Library, case: Case) -> dict[str, Callable[[], object]]:
    """The same call in each format, once it is seen to give what the reference does."""
    made: dict[str, Callable[[], object]] = {}
    for name in PRECISIONS:
        operation = case.operation if name == WIDE else f"{case.operation}_{name}"
        stored = Case(case.id, operation, operations.as_declared(operation, case.arguments))
        function, short = getattr(library, operation), shortened(stored)
        if failed := wrong(short, function(*short.call())):
            sys.exit(f"{operation}: {'; '.join(failed)}")
        made[name] = partial(function, *stored.call())
    return made


def step(library: Library, precision: Precision, sizes: Sizes) -> Callable[[], None]:
    """A training step that goes on where the last one ended."""
    once, given = Step(library, sizes.config, TRAINING, precision=precision), batch(sizes)
    standing = once.start(initial_state(sizes).parameters)

    def go_on() -> None:
        nonlocal standing
        standing, _ = once(standing, *given)

    return go_on


def added(every: list[list[float]]) -> list[float]:
    """The seconds of several calls together, round by round."""
    return [sum(calls) for calls in zip(*every, strict=True)]


def line(what: str, seconds: Seconds) -> str:
    """A row of the table."""
    times = "".join(f"{1e3 * median(each):>10.2f}" for each in seconds.values())
    ratios = "".join(f"{ratio(seconds[name], seconds[WIDE])!s:>26}" for name in HALVES)
    return f"{what:<28}{times}{ratios}"


if __name__ == "__main__":
    main()
