"""The library file itself: what it exports, what it says of itself, and that any C compiler takes its sources."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from bindings import CallError, Library, exported_symbols, header_path, read_header
from tests.conftest import ROOT

COMPILER = os.environ.get("CC", "cc")
SOURCES = [
    *sorted((ROOT / "cuda" / "src").glob("*.c")),
    *sorted((ROOT / "cuda" / "src" / "vector").glob("*.c")),
    *sorted((ROOT / "cuda" / "src" / "halves").glob("*.c")),
]
STRICT = ["-std=c11", "-pedantic", "-Wall", "-Wextra", "-Werror", f"-I{header_path().parent}"]


def test_exports_what_the_header_declares_and_nothing_else(stub_path: Path) -> None:
    header = read_header()
    declared = {function.symbol for function in (*header.operations.values(), *header.services.values())}
    exported = set(exported_symbols(stub_path))
    assert declared <= exported
    assert {name for name in exported - declared if not name.startswith("_")} == set()  # the compiler's own begin so


def test_what_the_build_says_of_itself(stub: Library) -> None:
    services = stub.services
    assert services.version() == read_header().version
    assert [services.fact(name) for name in ("device_memory", "devices", "compute_capability")] == [0, 0, 0]
    assert services.fact("threads") >= 1
    assert services.fact("vector_bits") in {32, 128, 256, 512}
    assert services.fact("no such fact") is None


def test_memory_and_streams(stub: Library) -> None:
    services, back = stub.services, np.zeros(4, np.float32)
    memory, stream = services.allocate(16), services.stream_create()
    services.copy(memory, np.arange(4, dtype=np.float32), 16, stream)
    services.fill(memory, 0, 4, stream)
    services.copy(back, memory, 16, stream)
    services.synchronize(stream)
    services.stream_destroy(stream)
    services.free(memory)
    assert back.tolist() == [0, 1, 2, 3]


def test_events_and_what_a_host_does_not_record(stub: Library) -> None:
    services, events = stub.services, [stub.services.event_create() for _ in range(2)]
    for event in events:
        services.event_record(event, None)
        services.event_wait(event)
        services.stream_wait(None, event)
    assert 0 <= services.event_elapsed(*events) < 60_000
    refused = [
        (lambda: services.event_record(events[0], 1), "ASSAYER_INVALID"),
        (lambda: services.event_elapsed(None, events[0]), "ASSAYER_INVALID"),
        (lambda: services.capture_begin(None), "ASSAYER_UNSUPPORTED"),
        (lambda: services.capture_end(None), "ASSAYER_UNSUPPORTED"),
        (lambda: services.graph_launch(None, None), "ASSAYER_UNSUPPORTED"),
        (lambda: services.graph_destroy(None), "ASSAYER_UNSUPPORTED"),
    ]
    for call, meaning in refused:
        with pytest.raises(CallError, match=meaning):
            call()
    for event in events:
        services.event_destroy(event)


@pytest.mark.parametrize("bytes", [0, -1])
def test_memory_of_no_size_is_refused(stub: Library, bytes: int) -> None:
    with pytest.raises(CallError):
        stub.services.allocate(bytes)


def test_more_memory_than_there_is(stub: Library) -> None:
    with pytest.raises(CallError) as caught:
        stub.services.allocate(2**62)
    assert caught.value.code == read_header().constants["ASSAYER_NO_MEMORY"].value


@pytest.mark.slow
@pytest.mark.parametrize("flags", [[], ["-fopenmp"], ["-DASSAYER_NO_VECTORS"]], ids=["plain", "openmp", "no_vectors"])
def test_strict_c11_without_a_warning(flags: list[str]) -> None:
    done = subprocess.run([COMPILER, *STRICT, *flags, "-fsyntax-only", *SOURCES], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_header_is_c_plus_plus_too(tmp_path: Path) -> None:
    text = tmp_path / "header.cpp"
    text.write_text('#include "assayer.h"\n')
    flags = ["-std=c++11", "-Wall", "-Wextra", "-Werror", f"-I{header_path().parent}"]
    done = subprocess.run([COMPILER, *flags, "-fsyntax-only", text], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
