"""What a library does besides operations, straight through C: facts, memory, copies, streams, events, each refusal."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bindings import read_header
from bindings.shared_object.foreign import SharedObject, address, from_buffer, new, pointer

HEADER = read_header()
OK, UNAVAILABLE, INVALID, NO_MEMORY, UNSUPPORTED = (
    HEADER.constants[f"ASSAYER_{name}"].value for name in ("OK", "UNAVAILABLE", "INVALID", "NO_MEMORY", "UNSUPPORTED")
)
NULL, SIZE = pointer(0), 64
Service = Callable[..., int]


@pytest.fixture(scope="module")
def services(stub_path: Path) -> dict[str, Service]:
    library = SharedObject(stub_path)
    found = {name: library.entry(one.symbol, one.types) for name, one in HEADER.services.items()}
    return {name: entry for name, entry in found.items() if entry}


@pytest.fixture
def event(services: dict[str, Service]) -> Any:
    made = new("void**")
    assert services["event_create"](made) == OK
    yield made[0]
    assert services["event_destroy"](made[0]) == OK


def text(name: str) -> Any:
    return from_buffer(bytearray(f"{name}\0".encode()))


def test_every_fact_has_a_value_of_its_own(services: dict[str, Service]) -> None:
    value, found = new("int64_t*"), {}
    for name in ("device_memory", "devices", "threads", "compute_capability", "vector_bits", "bf16_unit", "fp16_unit"):
        value[0] = -7
        assert services["capability"](text(name), value) == OK
        found[name] = int(value[0])
    assert found["threads"] >= 1
    assert found["vector_bits"] in {32, 128, 256, 512}
    assert {found["bf16_unit"], found["fp16_unit"]} <= set(range(4))
    assert [found[name] for name in ("device_memory", "devices", "compute_capability")] == [0, 0, 0]


@pytest.mark.parametrize("name", ["", "emulate", "thread", "threadsx", "~"])
def test_an_unknown_fact_is_unavailable_and_leaves_the_value(services: dict[str, Service], name: str) -> None:
    value = new("int64_t*")
    value[0] = -7
    assert services["capability"](text(name), value) == UNAVAILABLE
    assert value[0] == -7


def test_facts_and_the_version_need_a_place(services: dict[str, Service]) -> None:
    assert services["version"](NULL) == INVALID
    assert services["capability"](NULL, new("int64_t*")) == INVALID
    assert services["capability"](text("threads"), NULL) == INVALID


@pytest.mark.parametrize("bytes", [1, 2, SIZE])
def test_memory_is_copied_and_filled_as_far_as_asked(services: dict[str, Service], bytes: int) -> None:
    memory, ours, back = new("void**"), bytearray(range(1, SIZE + 1)), bytearray(SIZE)
    assert services["allocate"](memory, SIZE) == OK
    assert services["fill"](memory[0], 0x5A, SIZE, NULL) == OK
    assert services["copy"](memory[0], from_buffer(ours), bytes, NULL) == OK
    assert services["copy"](from_buffer(back), memory[0], SIZE, NULL) == OK
    assert back == ours[:bytes] + b"\x5a" * (SIZE - bytes)
    assert services["fill"](memory[0], 0, bytes, NULL) == OK
    assert services["copy"](from_buffer(back), memory[0], SIZE, NULL) == OK
    assert back == bytearray(bytes) + b"\x5a" * (SIZE - bytes)
    assert services["free"](memory[0]) == OK


def test_one_byte_is_memory_too(services: dict[str, Service]) -> None:
    memory, back = new("void**"), bytearray(1)
    assert services["allocate"](memory, 1) == OK
    assert services["fill"](memory[0], 0x5A, 1, NULL) == OK
    assert services["copy"](from_buffer(back), memory[0], 1, NULL) == OK
    assert back == b"\x5a"
    assert services["free"](memory[0]) == OK


@pytest.mark.parametrize("bytes", [0, -1, -(2**63)])
def test_sizes_below_one_are_refused_and_nothing_is_touched(services: dict[str, Service], bytes: int) -> None:
    memory, ours, theirs = new("void**"), bytearray(b"ours"), bytearray(b"rest")
    assert services["allocate"](memory, bytes) == INVALID
    assert address(memory[0]) == 0
    assert services["copy"](from_buffer(ours), from_buffer(theirs), bytes, NULL) == INVALID
    assert services["fill"](from_buffer(ours), 0, bytes, NULL) == INVALID
    assert ours == b"ours"


def test_null_memory_is_refused_and_may_be_freed(services: dict[str, Service]) -> None:
    ours = bytearray(b"ours")
    assert services["allocate"](NULL, SIZE) == INVALID
    assert services["copy"](NULL, from_buffer(ours), 4, NULL) == INVALID
    assert services["copy"](from_buffer(ours), NULL, 4, NULL) == INVALID
    assert services["fill"](NULL, 0, 4, NULL) == INVALID
    assert services["free"](NULL) == OK


def test_more_memory_than_there_is(services: dict[str, Service]) -> None:
    memory = new("void**")
    assert services["allocate"](memory, 2**62) == NO_MEMORY
    assert address(memory[0]) == 0


def test_a_stream_is_one_of_the_library(services: dict[str, Service]) -> None:
    stream, stranger = new("void**"), from_buffer(bytearray(SIZE))
    assert services["stream_create"](stream) == OK
    assert address(stream[0]) != 0
    for known in (NULL, stream[0]):
        assert services["synchronize"](known) == OK
    assert services["synchronize"](stranger) == INVALID
    assert services["synchronize"](pointer(address(stream[0]) + 1)) == INVALID
    for unknown in (NULL, stranger, pointer(address(stream[0]) - 1), pointer(address(stream[0]) + 1)):
        assert services["stream_destroy"](unknown) == INVALID
    assert services["stream_destroy"](stream[0]) == OK
    assert services["stream_create"](NULL) == INVALID


def test_events_tell_the_time_between_them(services: dict[str, Service], event: Any) -> None:
    later, milliseconds = new("void**"), new("float*")
    assert services["event_create"](later) == OK
    started = time.perf_counter()
    assert services["event_record"](event, NULL) == OK
    time.sleep(0.02)
    assert services["event_record"](later[0], NULL) == OK
    at_most = 1e3 * (time.perf_counter() - started)
    assert services["event_elapsed"](event, later[0], milliseconds) == OK
    assert 10 <= milliseconds[0] <= at_most + 10  # the clock of a machine may be set meanwhile, by little
    assert services["event_elapsed"](later[0], event, milliseconds) == OK
    assert -at_most - 10 <= milliseconds[0] <= -10
    assert services["event_destroy"](later[0]) == OK


@pytest.mark.parametrize("recorded", [0, 1])
def test_an_event_that_was_not_recorded_has_no_time(services: dict[str, Service], event: Any, recorded: int) -> None:
    other, milliseconds = new("void**"), new("float*")
    assert services["event_create"](other) == OK
    pair = [event, other[0]]
    assert services["event_record"](pair[recorded], NULL) == OK
    milliseconds[0] = -7
    assert services["event_elapsed"](*pair, milliseconds) == INVALID
    assert milliseconds[0] == -7
    assert services["event_destroy"](other[0]) == OK


def test_events_are_waited_for_on_known_streams_alone(services: dict[str, Service], event: Any) -> None:
    stranger = from_buffer(bytearray(SIZE))
    assert services["event_wait"](event) == OK
    assert services["stream_wait"](NULL, event) == OK
    assert services["event_record"](event, stranger) == INVALID
    assert services["stream_wait"](stranger, event) == INVALID


def test_null_events_are_refused(services: dict[str, Service], event: Any) -> None:
    milliseconds = new("float*")
    assert services["event_record"](event, NULL) == OK
    assert services["event_create"](NULL) == INVALID
    assert services["event_destroy"](NULL) == INVALID
    assert services["event_record"](NULL, NULL) == INVALID
    assert services["event_wait"](NULL) == INVALID
    assert services["stream_wait"](NULL, NULL) == INVALID
    assert services["event_elapsed"](NULL, event, milliseconds) == INVALID
    assert services["event_elapsed"](event, NULL, milliseconds) == INVALID
    assert services["event_elapsed"](event, event, NULL) == INVALID


def test_a_host_records_no_graphs(services: dict[str, Service]) -> None:
    assert services["capture_begin"](NULL) == UNSUPPORTED
    assert services["capture_end"](NULL, new("void**")) == UNSUPPORTED
    assert services["graph_launch"](NULL, NULL) == UNSUPPORTED
    assert services["graph_destroy"](NULL) == UNSUPPORTED
