"""What the tape costs beside the calls it makes: `python -m benchmarks.tape [--library PATH] [--short]`.

A chain of operations on tensors of 2 x 3 numbers, forward and backward. Of each operation is printed, in microseconds,
its share of both (`tape`), the tensors' own operations that they consist of (`tensors`), and the bare calls of the
library in these, their pointers made before (`C`). `tape - tensors` is what recording and walking back cost, `tape - C`
all that is not the library. A figure is the least of the rounds: what a machine does besides only adds.
"""

from __future__ import annotations

from . import threads  # noqa: F401  isort: skip (before NumPy)

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bindings import Library, Signature
from bindings.shared_object.foreign import NULL, from_buffer
from tensors import Tensor
from tensors.calls import Rest, mapped, zipped
from tensors.tape import Variable

from .backends import AbsentError, find_library
from .interleaved import Rounds, take_turns
from .machine import header

CHAIN = 50
Calls = list[tuple[str, Rest]]


class Row(NamedTuple):
    """One operation: on a variable, a leaf like it; and what it does to tensors, forward and back."""

    name: str
    on_tape: Callable[[Any, Any], Any]
    on_tensors: Callable[[Tensor, Tensor], Any]
    calls: Calls


def rows(x: Tensor) -> tuple[Row, ...]:
    """What is timed; the tensors' operations are those that the gradients of tape/maps.py and tape/zips.py make."""
    one, two = x.layout, (x.layout, x.layout)
    negative = ("map_strided", mapped("negative", one)[0])
    multiply, add = (("zip_strided", zipped(name, *two)[0]) for name in ("multiply", "add"))
    return (
        Row("negative", lambda v, _: -v, lambda a, _: (-a, -a), [negative] * 2),
        Row(
            "exp",
            lambda v, _: v.map("exp"),
            lambda a, b: (a.map("exp"), a * b),
            [("map_strided", mapped("exp", one)[0]), multiply],
        ),
        Row("add, a leaf each time", lambda v, w: v + w, lambda a, b: (a + b, a + b), [add] * 2),
        Row(
            "multiply by a leaf",
            lambda v, w: v * w,
            lambda a, b: (a * b, a * b, a * b, a + b),
            [multiply, multiply, multiply, add],
        ),
    )


def main() -> None:
    """Print a row for each operation."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=Path, help="the C build to time (default: the one in build/stub)")
    parser.add_argument("--short", action="store_true", help="few rounds")
    options = parser.parse_args()
    try:
        path = find_library(options.library)
    except AbsentError as error:
        parser.error(str(error))
    print(*header(path), sep="\n")
    report(Library(path), Rounds(20, 20) if options.short else Rounds(300, 300))


def report(library: Library, rounds: Rounds) -> None:
    """Print the table."""
    x = Tensor(np.array([[0.5, -1.0, 2.0], [1.0, 0.25, -0.5]], np.float32), library)
    print(f"us an operation, forward and backward of chains of {CHAIN}: the least of {rounds.most} rounds")
    print(f"{'':24}{'tape':>8}{'tensors':>9}{'C':>8}{'tape - tensors':>16}{'tape - C':>10}")
    for row in rows(x):
        timed = take_turns(candidates(library, row, x), rounds, warmup=3)
        tape, tensors, calls = (min(timed[name]) / CHAIN * 1e6 for name in ("tape", "tensors", "C"))
        print(f"{row.name:24}{tape:8.2f}{tensors:9.2f}{calls:8.2f}{tape - tensors:16.2f}{tape - calls:10.2f}")


def candidates(library: Library, row: Row, x: Tensor) -> dict[str, Callable[[], object]]:
    """The three ways to do it, CHAIN times each."""
    leaf, w = (Variable(x.copy(), requires_grad=True) for _ in range(2))

    def tape() -> None:
        leaf.zero_grad()
        w.zero_grad()
        value = leaf
        for _ in range(CHAIN):
            value = row.on_tape(value, w)
        value.backward(x)

    def tensors() -> None:
        for _ in range(CHAIN):
            row.on_tensors(x, w.value)

    calls = bare(library, row.calls, x) * CHAIN
    return {"tape": tape, "tensors": tensors, "C": lambda: [call() for call in calls]}


def bare(library: Library, calls: Calls, x: Tensor) -> list[Callable[[], object]]:
    """The library's entries with all that they are given, made before."""
    found: list[Callable[[], object]] = []
    for operation, rest in calls:
        function = library.header.operations[operation]
        signature, entry = Signature(function), library.entry(function.symbol, function.types)
        assert entry is not None  # the tensors have called it
        inputs = [x.storage.array] * (1 if operation == "map_strided" else 2)
        values = dict(zip(signature.names, (*inputs, np.zeros(x.size, np.float32), *rest), strict=True))
        known = {"stream": NULL, **signature.sizes(values)}
        given = [from_buffer(values[p.name]) if p.is_array else known[p.name] for p in function.parameters]
        found.append(partial(entry, *given))
    return found


if __name__ == "__main__":
    main()
