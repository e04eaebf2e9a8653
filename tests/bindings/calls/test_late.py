"""Arrays on a device that does nothing until it has to: memory is handed out, and given back, in the right order."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from bindings import DeviceArray, Library, Stream
from tests.compiler import compile_library

N = 100


def compiled(folder: Path, *flags: str) -> Library:
    text = (Path(__file__).parents[2] / "late.c").read_text(encoding="utf-8")
    return Library(compile_library(text, folder, "late", *flags), resident=True)


@pytest.fixture
def late(tmp_path: Path) -> Library:
    return compiled(tmp_path)


@pytest.fixture(params=[(), ("-DCHANCE=1",), ("-DCHANCE=2",)], ids=["late", "chance", "other_chance"])
def library(request: pytest.FixtureRequest, tmp_path: Path) -> Library:
    return compiled(tmp_path, *request.param)


def test_nothing_is_done_before_the_host_waits(late: Library) -> None:
    host = np.arange(3, dtype=np.float32)
    y = late.scale(late.array(host), 2.0)
    host[:] = 7  # still to be read: a copy is done in its turn
    assert y.to_host().tolist() == [14, 14, 14]


def test_host_arrays_live_until_they_are_copied(library: Library) -> None:
    arrays = [library.array(np.full(N, value, np.float32)) for value in range(20)]
    assert [array.to_host()[-1] for array in arrays] == list(range(20))


class Line:
    """A stream, and what lies in arrays that were made on it: each with the number that is in all its places."""

    def __init__(self, library: Library, stream: Stream) -> None:
        self.library, self.stream = library, stream
        self.arrays: list[tuple[DeviceArray, float]] = []

    def step(self, rng: random.Random, others: list[Line]) -> None:
        with self.library.on(self.stream):
            kind = rng.choice(["new", "scale", "take", "drop", "drop", "look", "overwrite"])
            if kind == "new" or not self.arrays:
                value = float(rng.randrange(100))
                self.arrays.append((self.library.array(np.full(N, value, np.float32)), value))
                return
            at = rng.randrange(len(self.arrays))
            array, value = self.arrays[at]
            if kind == "scale":
                self.arrays.append((self.library.scale(array, 2.0), value * 2))
            elif kind == "take":
                self._take(rng.choice(others), rng)
            elif kind == "drop":
                del self.arrays[at]
            elif kind == "look":
                assert (array.to_host() == value).all()
            else:
                array.copy_from(np.full(N, 5, np.float32))
                self.arrays[at] = array, 5.0

    def _take(self, other: Line, rng: random.Random) -> None:
        """Read another stream's array behind the work there; that it goes at once is no business of ours."""
        if not other.arrays:
            return
        array, value = other.arrays.pop(rng.randrange(len(other.arrays)))
        event = self.library.event()
        event.record(other.stream)
        self.stream.wait(event)
        self.arrays.append((self.library.scale(array, 0.5), value / 2))


@pytest.mark.parametrize("seed", range(4))
def test_any_use_of_streams_gives_what_it_would_one_by_one(library: Library, seed: int) -> None:
    rng = random.Random(seed)
    lines = [Line(library, library.stream()) for _ in range(3)]
    for turn in range(400):
        line = rng.choice(lines)
        line.step(rng, [other for other in lines if other is not line])
        if turn % 100 == 99:
            library.memory.cache.empty()
    for line in lines:
        with library.on(line.stream):
            assert all((array.to_host() == value).all() for array, value in line.arrays)
    statistics = library.memory.statistics
    assert statistics.reserved <= 2 * statistics.peak


def test_the_device_tells_when_memory_is_handed_out_too_early(late: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the order between streams the last use reads what the next array holds."""

    library = late

    def taken(orderly: bool) -> float:
        first, second = library.stream(), library.stream()
        with library.on(first):
            x = library.array(np.ones(N, np.float32))
            x.to_host()
        with library.on(second):
            y = library.scale(x, 1.0)
        if not orderly:
            monkeypatch.setattr(library.memory.space, "order", lambda *_: None)
        del x
        with library.on(first):
            library.array(np.zeros(N, np.float32)).to_host()
        with library.on(second):
            return float(y.to_host()[0])

    assert (taken(True), taken(False)) == (1.0, 0.0)


def test_a_graph_is_done_behind_what_was_asked_and_before_what_is_asked_next(library: Library) -> None:
    """Calls that are made again; and the memory of a graph that was reset goes to the next one, on another stream."""
    first, second = library.stream(), library.stream()
    with library.on(first):
        x = library.scale(library.array(np.ones(N, np.float32)), 7.0)
        with library.capture() as graph:
            zeros = library.memory.zeros((N,), np.float32)
            y = library.scale(x, 2.0)
            x.copy_from(y)
        results = []
        for _ in range(3):
            graph.launch()
            results.append(library.scale(y, 1.0))
        addresses = {y.address, zeros.address}
        del y, zeros
        graph.reset()
    with library.capture() as another:
        z = library.scale(x, 10.0)
    assert z.address in addresses
    ready = library.event()
    ready.record(first)
    second.wait(ready)
    with library.on(second):
        another.launch()
        assert float(library.scale(z, 1.0)[N - 1]) == 560
    with library.on(first):
        assert [float(result[0]) for result in results] == [14, 28, 56]
