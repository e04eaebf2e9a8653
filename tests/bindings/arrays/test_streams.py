"""Streams and events: order without waiting."""

from __future__ import annotations

import time

import numpy as np
import pytest

from bindings import CallError, Library

X = np.arange(6, dtype=np.float32)


@pytest.fixture(params=["stub", "emulated"])
def library(request: pytest.FixtureRequest, device_memory: None) -> Library:
    return Library(request.getfixturevalue(f"{request.param}_path"), resident=True)


def test_an_event_is_waited_for_and_timed(library: Library) -> None:
    stream, first, second = library.stream(), library.event(), library.event()
    x = library.array(X)
    with library.on(stream):
        first.record(stream)
        time.sleep(0.002)
        y = library.scale(x, 2.0)
        second.record(stream)
    library.stream().wait(second)
    second.wait()
    stream.synchronize()
    assert 2 <= second.since(first) < 60_000
    assert second.since(second) == 0
    np.testing.assert_array_equal(y.to_host(), 2 * X)


def test_an_event_that_was_not_recorded_has_no_time(library: Library) -> None:
    recorded = library.event()
    recorded.record()
    with pytest.raises(CallError, match="event_elapsed: the library returned"):
        recorded.since(library.event())


def test_calls_go_to_the_stream_that_is_on(device: Library) -> None:
    stream = device.stream()
    with pytest.raises(TypeError), device.on(stream):
        np.asarray(device.memory.zeros((2,), np.float32))
    assert device.memory.stream == 0
    with device.on(stream):
        assert device.memory.stream == stream.address


def test_memory_used_on_another_stream_is_used_again_behind_it(device: Library) -> None:
    before = {name: device.services.fact(name) for name in ("waits", "orders")}
    x = device.scale(device.array(X), 1.0)
    address = x.address
    with device.on(device.stream()):
        y = device.scale(x, 2.0)
    assert device.services.fact("orders") == before["orders"]
    del x
    assert device.services.fact("orders") == before["orders"] + 1
    assert device.memory.empty((6,), np.float32).address == address
    assert device.services.fact("waits") == before["waits"]
    del y


def test_without_events_the_host_waits_for_one_stream_before_another(
    device: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device.services, "has", lambda name: name != "event_create")
    waits, orders = device.services.fact("waits"), device.services.fact("orders")
    device.memory.space.order(1, 2)
    device.memory.space.order(2, 2)
    assert (device.services.fact("waits"), device.services.fact("orders")) == (waits + 1, orders)
