"""What the kernels' library does besides operations, straight through C on the emulated device, each refusal among it.

$ASSAYER_EMULATED names another library that is to be tested.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bindings import read_header
from bindings.shared_object.foreign import SharedObject, address, from_buffer, new, pointer
from conformance.proof.faults import build
from conformance.proof.faults.fault import Fault
from tests.tools import CXX, needs

pytestmark = needs(*CXX)
# Nothing is changed: with it the builder of faulty libraries makes a right one.
SAME = Fault("elementwise.cu: as it is", ("silu",), "elementwise.cu", "x[0] + x[1]", "x[1] + x[0]", "")
HEADER = read_header()
OK, UNAVAILABLE, INVALID, NO_MEMORY = (
    HEADER.constants[f"ASSAYER_{name}"].value for name in ("OK", "UNAVAILABLE", "INVALID", "NO_MEMORY")
)
NULL, SIZE = pointer(0), 64
Service = Callable[..., int]


ALLOCATES = """
import ctypes, sys
memory = ctypes.c_void_p()
print(ctypes.CDLL(sys.argv[1]).assayer_allocate(ctypes.byref(memory), ctypes.c_int64(64)), bool(memory))
"""


@pytest.fixture(scope="module")
def library() -> Path:
    return Path(os.environ.get("ASSAYER_EMULATED") or build(SAME))


@pytest.fixture(scope="module")
def services(library: Path) -> dict[str, Service]:
    loaded = SharedObject(library)
    found = {name: loaded.entry(one.symbol, one.types) for name, one in HEADER.services.items()}
    return {name: entry for name, entry in found.items() if entry}


@pytest.fixture
def stream(services: dict[str, Service]) -> Any:
    made = new("void**")
    assert services["stream_create"](made) == OK
    yield made[0]
    assert services["stream_destroy"](made[0]) == OK


@pytest.fixture
def event(services: dict[str, Service]) -> Any:
    made = new("void**")
    assert services["event_create"](made) == OK
    yield made[0]
    assert services["event_destroy"](made[0]) == OK


def text(name: str) -> Any:
    return from_buffer(bytearray(f"{name}\0".encode()))


def fact(services: dict[str, Service], name: str) -> int:
    value = new("int64_t*")
    value[0] = -7
    assert services["capability"](text(name), value) == OK
    return int(value[0])


def test_every_fact_has_a_value_of_its_own(services: dict[str, Service]) -> None:
    assert [fact(services, name) for name in ("device_memory", "devices", "emulated", "vector_bits")] == [0, 1, 1, 128]
    assert fact(services, "compute_capability") >= 70
    assert fact(services, "threads") >= 2048


@pytest.mark.parametrize("name", ["", "emulate", "threadsx", "~"])
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
def test_memory_is_copied_and_filled_as_far_as_asked(services: dict[str, Service], stream: Any, bytes: int) -> None:
    memory, ours, back = new("void**"), bytearray(range(1, SIZE + 1)), bytearray(SIZE)
    assert services["allocate"](memory, SIZE) == OK
    assert services["fill"](memory[0], 0x5A, SIZE, stream) == OK
    assert services["copy"](memory[0], from_buffer(ours), bytes, stream) == OK
    assert services["copy"](from_buffer(back), memory[0], SIZE, stream) == OK
    assert services["synchronize"](stream) == OK
    assert back == ours[:bytes] + b"\x5a" * (SIZE - bytes)
    assert services["free"](memory[0]) == OK
    assert services["free"](memory[0]) > 0  # once is all


def test_one_byte_is_filled(services: dict[str, Service]) -> None:
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
    """What stood where the address was to be put stands there still."""
    memory = new("void**")
    assert services["allocate"](memory, 2**62) == NO_MEMORY
    assert address(memory[0]) == 0
    assert services["allocate"](memory, SIZE) == OK
    held = address(memory[0])
    assert services["allocate"](memory, 2**62) == NO_MEMORY
    assert address(memory[0]) == held
    assert services["free"](memory[0]) == OK


def test_streams_and_events_need_a_place(services: dict[str, Service], stream: Any, event: Any) -> None:
    milliseconds = new("float*")
    assert address(stream) != 0
    assert services["event_record"](event, stream) == OK
    for name, arguments in {
        "stream_create": (NULL,), "stream_destroy": (NULL,), "event_create": (NULL,), "event_destroy": (NULL,),
        "event_record": (NULL, stream), "event_wait": (NULL,), "stream_wait": (stream, NULL),
    }.items():  # fmt: skip
        assert services[name](*arguments) == INVALID, name
    for pair in ((NULL, event, milliseconds), (event, NULL, milliseconds), (event, event, NULL)):
        assert services["event_elapsed"](*pair) == INVALID


def test_events_tell_the_time_between_them(services: dict[str, Service], stream: Any, event: Any) -> None:
    later, milliseconds = new("void**"), new("float*")
    assert services["event_create"](later) == OK
    assert services["event_elapsed"](event, later[0], milliseconds) > 0  # neither was recorded
    started = time.perf_counter()
    assert services["event_record"](event, stream) == OK
    time.sleep(0.02)
    assert services["event_record"](later[0], stream) == OK
    assert services["event_wait"](later[0]) == OK
    at_most = 1e3 * (time.perf_counter() - started)
    assert services["stream_wait"](NULL, event) == OK
    assert services["event_elapsed"](event, later[0], milliseconds) == OK
    assert 10 <= milliseconds[0] <= at_most + 10  # the clock of a machine may be set meanwhile, by little
    assert services["event_destroy"](later[0]) == OK


def test_what_is_captured_runs_when_its_graph_does(services: dict[str, Service], stream: Any) -> None:
    memory, graph, back = new("void**"), new("void**"), bytearray(SIZE)
    assert services["allocate"](memory, SIZE) == OK
    assert services["fill"](memory[0], 1, SIZE, NULL) == OK
    assert services["capture_begin"](stream) == OK
    assert services["fill"](memory[0], 2, SIZE, stream) == OK
    assert services["capture_end"](stream, graph) == OK
    for expected, launch in ((1, False), (2, True)):
        if launch:
            assert services["graph_launch"](graph[0], stream) == OK
        assert services["synchronize"](stream) == OK
        assert services["copy"](from_buffer(back), memory[0], SIZE, NULL) == OK
        assert back == bytes([expected]) * SIZE
    assert services["graph_destroy"](graph[0]) == OK
    assert services["free"](memory[0]) == OK


def test_graphs_need_a_place_and_a_capture(services: dict[str, Service], stream: Any) -> None:
    graph = new("void**")
    assert services["capture_begin"](NULL) == INVALID
    assert services["capture_end"](NULL, graph) == INVALID
    assert services["capture_end"](stream, NULL) == INVALID
    assert services["capture_end"](stream, graph) > 0  # nothing was begun
    assert address(graph[0]) == 0
    assert services["graph_launch"](NULL, stream) == INVALID
    assert services["graph_destroy"](NULL) == INVALID


@pytest.mark.parametrize(("failing", "said"), [("cudaMalloc:1", f"{OK} True"), ("cudaMalloc", f"{NO_MEMORY} False")])
def test_memory_is_asked_for_once_more_when_scratch_has_been_handed_back(
    library: Path, failing: str, said: str
) -> None:
    environment = {**os.environ, "ASSAYER_EMULATOR_FAIL": failing}
    command = [sys.executable, "-c", ALLOCATES, str(library)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.strip() == said
