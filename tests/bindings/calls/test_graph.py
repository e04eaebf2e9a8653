"""Captured calls: done at each launch and not before; the states of a graph; what cannot be captured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bindings import ArgumentError, CallError, CaptureError, DeviceArray, Graph, Library, MissingSymbol
from tests.bindings.test_library import SCALE
from tests.compiler import compile_library

X = np.arange(6, dtype=np.float32)


@pytest.fixture(params=["stub", "device", "emulated"])
def library(request: pytest.FixtureRequest, device_memory: None) -> Library:
    """The first two make the calls again; the emulated device has graphs of its own."""
    return Library(request.getfixturevalue(f"{request.param}_path"), resident=True)


def values(array: DeviceArray) -> list[float]:
    """A copy: on the host, to_host shows the memory itself."""
    return [float(value) for value in array.to_host()]


def test_calls_are_made_at_each_launch_with_the_arrays_as_they_are_then(library: Library) -> None:
    x, factor = library.array(X.copy()), library.array(np.array([3], np.float32))
    with library.capture() as graph:
        assert graph.state == "capturing"
        y = library.scale(x, 2.0)
        z = library.scale(y, 2.0)
        library.multi_scale([x], factor)
    assert graph.state == "ready"
    assert values(x) == X.tolist()
    for power in (1, 3):
        graph.launch()
        assert values(z) == (4 * power * X).tolist()
        assert values(x) == (3 * power * X).tolist()
    x.copy_from(X)
    factor.copy_from(np.zeros(1, np.float32))
    graph.launch()
    assert (values(z), values(x)) == ((4 * X).tolist(), [0] * 6)


def test_copies_and_zeros_are_captured(library: Library) -> None:
    x = library.array(X.copy())
    with library.capture() as graph:
        zeros = np.zeros_like(x)
        x.copy_from(library.scale(x, 2.0))
    x.copy_from(X)
    graph.launch()
    graph.launch()
    assert (values(x), values(zeros)) == ((4 * X).tolist(), [0] * 6)


def test_a_graph_s_memory_is_its_own_and_used_again_within(library: Library) -> None:
    x = library.array(X.copy())
    with library.capture() as graph:
        y = x
        for _ in range(50):
            y = library.scale(y, 1.0)
    assert library.memory.statistics.reserved <= 5 * 512
    others = [library.scale(x, 0.0) for _ in range(5)]
    graph.launch()
    assert values(y) == X.tolist()
    assert all(values(other) == [0] * 6 for other in others)
    del y
    graph.reset()
    reserved = library.memory.statistics.reserved
    with library.capture():
        library.scale(x, 1.0)
    assert library.memory.statistics.reserved == reserved


def test_host_arrays_are_constants_of_a_graph(library: Library) -> None:
    x = library.array(X.copy())
    with library.capture() as graph:
        library.multi_scale([x], np.array([3], np.float32, like=x))
    others = [library.array(np.array([5], np.float32)) for _ in range(3)]
    graph.launch()
    graph.launch()
    assert values(x) == (9 * X).tolist()
    del others


def test_what_another_stream_used_comes_back_behind_the_capture(library: Library) -> None:
    """An event on a stream that is captured would be part of the capture."""
    with library.on(library.stream()):
        outside = library.scale(library.array(X.copy()), 2.0)
    x = library.array(X.copy())
    y = library.scale(outside, 2.0)
    with library.capture() as graph:
        del outside
        z = library.scale(x, 2.0)
    graph.launch()
    assert (values(y), values(z)) == ((4 * X).tolist(), (2 * X).tolist())


def test_a_graph_keeps_what_it_reads(library: Library) -> None:
    x = library.scale(library.array(X.copy()), 1.0)
    with library.capture() as graph:
        y = library.scale(x, 2.0)
    del x
    library.scale(library.array(np.zeros(6, np.float32)), 1.0)
    graph.launch()
    assert values(y) == (2 * X).tolist()


def test_on_another_stream(library: Library) -> None:
    x = library.array(X.copy())
    with library.capture() as graph:
        y = library.scale(x, 2.0)
    with library.on(library.stream()):
        graph.launch()
        z = library.scale(y, 2.0)
        assert values(z) == (4 * X).tolist()
    graph.reset()


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ("end", "end: expected a graph that is capturing, got one that is empty"),
        ("launch", "launch: expected a graph that is ready, got one that is empty"),
        ("begin begin", "begin: expected a graph that is empty, got one that is capturing"),
        ("begin launch", "launch: expected a graph that is ready, got one that is capturing"),
        ("begin reset", "reset: expected a graph that is not being captured"),
        ("begin end begin", "begin: expected a graph that is empty, got one that is ready"),
        ("begin end end", "end: expected a graph that is capturing, got one that is ready"),
        ("begin end reset launch", "launch: expected a graph that is ready, got one that is empty"),
    ],
)
def test_states(library: Library, states: str, message: str) -> None:
    graph = library.graph()
    *before, last = states.split()
    for call in before:
        getattr(graph, call)()
    with pytest.raises(CaptureError, match=message):
        getattr(graph, last)()
    if graph.state == "capturing":
        graph.end()
    graph.reset()
    graph.begin()
    graph.end()
    graph.launch()


def test_one_capture_at_a_time(library: Library) -> None:
    other = library.graph()
    with library.capture() as graph, pytest.raises(CaptureError, match="begin: expected no other capture under way"):
        other.begin()
    assert (graph.state, other.state) == ("ready", "empty")


def moving(library: Library) -> Any:
    arrays = [library.array(X.copy()) for _ in range(4)]
    numbers = {"lr": 0.5, "beta1": 0.5, "beta2": 0.5, "eps": 0.0, "weight_decay": 0.0, "step": 3}
    with library.capture():
        library.adamw_step(*arrays, **numbers)


def test_what_cannot_be_captured(library: Library) -> None:
    x = library.array(X.copy())
    plain = Library(library.path)
    refused: list[tuple[Any, str]] = [
        (lambda: x.to_host(), "to_host: expected no values to come from or go to the host"),
        (lambda: x.copy_from(X), "copy_from: expected no values"),
        (library.synchronize, "synchronize: expected no values"),
    ]
    for call, message in refused:
        with pytest.raises(CaptureError, match=message), library.capture():
            call()
        assert library.memory.capture is None
    with (
        pytest.raises(CaptureError, match=r"scale: expected DeviceArrays .*, got host"),
        plain.capture(),
    ):
        plain.scale(X, 2.0)
    assert values(library.scale(x, 2.0)) == (2 * X).tolist()


def test_a_number_that_moves_is_not_frozen(stub_path: Any) -> None:
    expected = r"adamw_step: expected no number in a capture that changes from step to step, got lr = 0\.5, step = 3"
    with pytest.raises(CaptureError, match=expected):
        moving(Library(stub_path))


def test_indices_are_looked_at_when_they_are_known(stub_path: Any) -> None:
    library = Library(stub_path)
    rows, indices = library.array(X.reshape(3, 2)), library.array(np.array([7], np.int32))
    with library.capture() as graph:
        library.embedding(rows, indices)
    with pytest.raises(ArgumentError, match=r"embedding: argument indices: .*got 7"):
        graph.launch()
    indices.copy_from(np.array([2], np.int32))
    graph.launch()


def test_a_capture_that_the_device_breaks(emulated_path: Any, device_memory: None) -> None:
    library = Library(emulated_path, resident=True)
    graph = library.graph()
    graph.begin()
    with pytest.raises(CallError, match=r"900: .*cudaErrorStreamCaptureUnsupported"):
        library.services.synchronize(library.memory.stream)
    with pytest.raises(CallError, match=r"901: .*cudaErrorStreamCaptureInvalidated"):
        graph.end()
    assert graph.state == "empty"
    assert isinstance(graph, Graph)


def test_a_graph_that_nobody_holds_gives_its_memory_back(library: Library) -> None:
    x = library.array(X.copy())
    library.memory.cache.empty()
    reserved = library.memory.statistics.reserved
    with library.capture() as graph:
        y = library.scale(x, 2.0)
    graph.launch()
    del graph, y
    library.memory.cache.empty()
    assert library.memory.statistics.reserved == reserved


def test_a_capture_that_does_not_begin_leaves_everything_as_it_was(
    device: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(stream: int) -> None:
        raise CallError("capture_begin", 900, "no")

    monkeypatch.setattr(device.services, "capture_begin", fails, raising=False)
    with pytest.raises(CallError, match="900"), device.capture():
        pass
    monkeypatch.undo()
    assert (device.memory.capture, device.memory.stream) == (None, 0)
    with device.capture() as graph:
        pass
    assert graph.state == "ready"


def test_a_library_without_services_is_captured_too(tmp_path: Path) -> None:
    library = Library(compile_library(SCALE, tmp_path), resident=True)
    x = library.array(X.copy())
    with library.capture() as graph:
        y = library.scale(x, 2.0)
    x.copy_from(X + 1)
    graph.launch()
    assert values(y) == (2 * X + 2).tolist()
    with pytest.raises(MissingSymbol, match="stream_create: the library does not export assayer_stream_create"):
        library.stream()
