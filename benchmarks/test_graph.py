"""The graph: a check of many records, what a captured step costs in Python, and the step of a small network."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import graph
import reference
from bindings import Library
from conformance.judging.verdict import judge
from conformance.limits.namespaces import OnNumbers
from conformance.limits.noise import exact

from .backends import PYTORCH, REFERENCE, Backends, C
from .graphs import CHAIN_SHAPES, OPTIMIZER, chain, cnn, torch_cnn
from .hollow import build_hollow
from .interleaved import take_turns
from .sizes import SHORT, Sizes
from .table import Table

RECORDS = 10_000
STEP = "graph: step of a small CNN"


def test_check(sizes: Sizes, table: Table, benchmark: Any) -> None:
    count = RECORDS // sizes.divisor
    read = graph.read(chain(count))
    benchmark(lambda: graph.check(read, CHAIN_SHAPES))
    seconds = median(benchmark.stats.stats.data)
    table.notes.append(f"graph: {count:,} records are checked in {seconds:.3f} s; 10,000 within 1 s asked for")


def test_python_of_a_captured_step(sizes: Sizes, table: Table, tmp_path: Path) -> None:
    """On a library whose operations do nothing: what is left is Python's share. The process's own time."""
    count = RECORDS // 10 // (8 if sizes == SHORT else 1)
    checked = graph.check(graph.read(chain(count)), CHAIN_SHAPES)
    arrays = {name: np.zeros(checked.shapes[name], np.float32) for name in CHAIN_SHAPES}
    library = Library(build_hollow(tmp_path), resident=True)
    captured = graph.CapturedStep(checked, library, arrays, OPTIMIZER)
    batch = {name: arrays[name] for name in checked.graph.inputs}
    run, state = graph.Run(checked, library), None
    given = {name: library.array(array) for name, array in arrays.items()}
    ways = {"captured": lambda: captured(batch), "called": lambda: graph.train_step(run, given, OPTIMIZER, state)}
    seconds = take_turns(ways, sizes.operations, clock=time.process_time)
    each = {name: median(found) / count * 1e6 for name, found in seconds.items()}
    table.notes.append(
        f"graph: Python of a step, {count:,} records: {each['captured']:.2f} us a record captured, below 2 asked for; "
        f"{each['called']:.1f} us called one by one"
    )


def test_time(backend: str, backends: Backends, sizes: Sizes, timed: Callable[..., None]) -> None:
    timed(STEP, backend, steps_of(backends)[backend], rounds=sizes.steps.least)


def test_ratio(backends: Backends, sizes: Sizes, table: Table) -> None:
    assert wrong(backends) == []
    table.add_ratios(STEP, take_turns(steps_of(backends), sizes.operations))


def steps_of(backends: Backends) -> dict[str, Callable[[], Any]]:
    """A step by each backend, that goes on where its last one ended: on the C library captured."""
    checked, arrays = cnn()
    library = Library(backends.path, resident=True)
    captured = graph.CapturedStep(checked, library, arrays, OPTIMIZER)
    batch = {name: arrays[name] for name in checked.graph.inputs}
    steps: dict[str, Callable[[], Any]] = {REFERENCE: _called(checked, arrays), C: lambda: captured(batch)["loss"]}
    return steps | ({PYTORCH: torch_cnn(backends.torch, arrays)} if backends.torch else {})


def _called(checked: graph.Checked, arrays: dict[str, Any]) -> Callable[[], Any]:
    run, held, state = graph.Run(checked, reference), dict(arrays), None

    def step() -> Any:
        nonlocal state, held
        stepped = graph.train_step(run, held, OPTIMIZER, state)
        state, held = stepped.state, held | stepped.parameters
        return stepped.forward.losses["loss"]

    return step


def wrong(backends: Backends) -> list[str]:
    """A line for each backend whose first loss is beyond the noise."""
    checked, arrays = cnn()
    noisy = {name: exact(array) if array.dtype.kind == "f" else array for name, array in arrays.items()}
    expected = graph.Run(checked, OnNumbers(exact)).forward(noisy).losses["loss"]
    found = {name: np.asarray(step(), np.float32).reshape(1) for name, step in steps_of(backends).items()}
    verdicts = {name: judge("loss", expected, loss) for name, loss in found.items()}
    return [f"{name}: {verdict.reason}" for name, verdict in verdicts.items() if verdict.wrong]
