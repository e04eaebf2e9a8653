"""Calls recorded once and launched again and again, so that the host's part is not timed: here and in PyTorch."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from benchmarks.cases import Case
from bindings import CaptureError, Library
from conformance import operations

CACHE = 1 << 28  # bytes that the calls of a replay touch, several times a device's second-level cache


class Turns(NamedTuple):
    """How many turns each takes, of which the median counts, and the seconds of one; 0: a single launch.

    calls: of a launch, each on arrays of its own, at most.
    """

    rounds: int
    seconds: float
    calls: int


PUBLISHED, SHORT = Turns(7, 0.02, calls=16), Turns(1, 0.0, calls=2)


class Replay(NamedTuple):
    """launch() asks for all calls once more, wait() waits for them; moved: bytes of one call's arrays."""

    launch: Callable[[], object]
    wait: Callable[[], None]
    calls: int
    moved: int
    kept: object  # what must outlive the launches


def of_library(library: Library, case: Case, turns: Turns) -> Replay:
    """The case on as many sets of arrays as overflow a cache; everything stays where the library computes."""
    function = getattr(library, case.operation)
    first = [_placed(library, value) for value in case.call()]
    moved = _bytes([*first, *_each(function(*first))])
    sets = [first, *([_placed(library, v) for v in case.call()] for _ in range(_sets(moved, turns) - 1))]
    library.synchronize()

    def each() -> list[Any]:
        return [function(*arguments) for arguments in sets]

    try:
        with library.capture() as graph:
            results = each()
    except CaptureError:  # a number that changes from step to step: AdamW
        return Replay(each, library.synchronize, len(sets), moved, sets)
    return Replay(graph.launch, library.synchronize, len(sets), moved, (graph, sets, results))


def of_torch(case: Case, turns: Turns) -> Replay:
    """The same in PyTorch, eager.  Raises whatever PyTorch does where it has no such operation."""
    torch: Any = importlib.import_module("torch")
    prepare = getattr(importlib.import_module("benchmarks.torch_operations"), operations.base_of(case.operation))
    moved, aside, graph = _bytes(case.call()), torch.cuda.Stream(), torch.cuda.CUDAGraph()
    with torch.cuda.stream(aside):  # a gradient is computed on the stream that its forward pass was
        calls = [prepare(*(_tensor(torch, v) for v in case.call())) for _ in range(_sets(2 * moved, turns))]
        for call in calls:
            call()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, stream=aside):
        results = [call() for call in calls]
    return Replay(graph.replay, torch.cuda.synchronize, len(calls), moved, (graph, calls, results))


def has_device() -> bool:
    """Whether PyTorch is installed, and has a device."""
    try:
        return bool(importlib.import_module("torch").cuda.is_available())
    except ModuleNotFoundError:
        return False


def take_turns(replays: Mapping[str, Replay], turns: Turns) -> dict[str, float]:
    """Return the median seconds of one call of each, timed in turn."""
    seconds: dict[str, list[float]] = {name: [] for name in replays}
    launches = {name: _launches(replay, turns.seconds) for name, replay in replays.items()}
    for _ in range(turns.rounds):
        for name, replay in replays.items():
            seconds[name].append(_timed(replay, launches[name]) / launches[name] / replay.calls)
    return {name: median(each) for name, each in seconds.items()}


def _launches(replay: Replay, turn: float) -> int:
    _timed(replay, 1)  # what is loaded or compiled when it is first called
    return max(1, round(turn / _timed(replay, 1)))


def _timed(replay: Replay, launches: int) -> float:
    replay.wait()
    begun = time.perf_counter()
    for _ in range(launches):
        replay.launch()
    replay.wait()
    return time.perf_counter() - begun


def _sets(moved: int, turns: Turns) -> int:
    return max(1, min(turns.calls, CACHE // max(1, moved)))


def _placed(library: Library, value: Any) -> Any:
    return library.array(value) if isinstance(value, np.ndarray) else value


def _tensor(torch: Any, value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype.name == "bfloat16":
        return torch.from_numpy(value.view(np.int16)).view(torch.bfloat16).cuda()
    return torch.from_numpy(value).cuda()


def _each(results: Any) -> Sequence[Any]:
    return results if isinstance(results, tuple) else (results,)


def _bytes(values: Sequence[Any]) -> int:
    return sum(value.nbytes for value in values if hasattr(value, "nbytes"))
