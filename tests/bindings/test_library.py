"""Opening a library: what it lacks, what is no library at all."""

from __future__ import annotations

import copy
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bindings import Library, LibraryError, MissingSymbol, exported_symbols
from tests.bindings.spy import Spy
from tests.compiler import compile_library
from tests.errors import error_of

SCALE = """#include "assayer.h"
int32_t cuda_scale(const float* input, float scale, float* output, int64_t n, void* stream) {
    for (int64_t i = 0; i < n; i++) output[i] = input[i] * scale;
    return 0;
}
"""
VERSION = "int32_t assayer_version(int32_t* version) { *version = %s; return 0; }"
SERVICES = """#include "assayer.h"
#include <stdlib.h>
#include <string.h>
int32_t assayer_version(int32_t* version) { *version = ASSAYER_VERSION; return 0; }
int32_t assayer_capability(const char* name, int64_t* value) {
    if (strcmp(name, "threads") == 0) { *value = -5000000000; return 0; }
    return strcmp(name, "device_memory") == 0 ? (*value = 0, 0) : ASSAYER_UNAVAILABLE;
}
int32_t assayer_allocate(void** memory, int64_t bytes) {
    *memory = bytes > 0 ? malloc(bytes) : 0; return bytes > 0 ? 0 : ASSAYER_INVALID;
}
int32_t assayer_free(void* memory) { free(memory); return 0; }
int32_t assayer_copy(void* destination, const void* source, int64_t bytes, void* stream) {
    memcpy(destination, source, bytes); return 0;
}
"""


def test_a_library_of_one_operation(tmp_path: Path) -> None:
    library = Library(compile_library(SCALE, tmp_path))
    assert library.scale(np.array([1, 2], np.float32), 3).tolist() == [3, 6]
    assert set(library.missing) == library.header.operations.keys() - {"scale"}
    assert "rmsnorm" in dir(library)
    with pytest.raises(MissingSymbol, match=r"rmsnorm: .*library\.so does not export cuda_rmsnorm"):
        library.rmsnorm(1, 2, 3)


def test_an_operation_is_made_once(spy: Spy) -> None:
    assert spy.library.silu is spy.library.silu
    assert spy.library.missing == ()


def test_a_name_that_the_header_does_not_know(spy: Spy) -> None:
    with pytest.raises(AttributeError, match="no operation rmsnrm; did you mean rmsnorm"):
        spy.library.rmsnrm  # noqa: B018


def test_a_library_is_not_copied(spy: Spy) -> None:
    with pytest.raises((TypeError, AttributeError)):
        copy.deepcopy(spy.library)


def test_a_stream_is_passed_to_every_call(spy: Spy) -> None:
    library = Library(spy.library.path, stream=0x1234)
    library.silu(np.ones(2, np.float32))
    assert spy.address(3) == 0x1234


def test_a_library_of_another_version_is_refused(tmp_path: Path) -> None:
    text = '#include "assayer.h"\n' + VERSION
    Library(compile_library(text % "ASSAYER_VERSION", tmp_path, "same"))
    with pytest.raises(LibraryError, match=r"expected a library built from version 1 of the header, got .* version 2"):
        Library(compile_library(text % "ASSAYER_VERSION + 1", tmp_path, "other"))


def test_services(tmp_path: Path) -> None:
    services = Library(compile_library(SERVICES, tmp_path, "host")).services
    assert services.version() == 1
    assert services.capability("threads") == -5_000_000_000
    assert services.fact("no such fact") is None
    source, target = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
    memory = services.allocate(source.nbytes)
    services.copy(memory, source, source.nbytes, stream=None)
    services.copy(target, memory, source.nbytes, None)
    services.free(memory)
    assert target.tolist() == [0, 1, 2, 3]
    assert services.has("copy")
    assert not services.has("synchronize")
    with pytest.raises(MissingSymbol, match="synchronize: the library does not export assayer_synchronize"):
        services.synchronize(None)
    with pytest.raises(RuntimeError, match="allocate: the library returned -2: ASSAYER_INVALID"):
        services.allocate(0)
    with pytest.raises(TypeError, match="allocate: argument list: expected bytes"):
        services.allocate()
    with pytest.raises(AttributeError, match="no service alocate"):
        services.alocate  # noqa: B018


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"int main;", "is text"),
        (b"!<arch>\n", "static library"),
        (b"MZ\x90\x00", "Windows"),
        (b"\xcf\xfa\xed\xfe" + bytes(60), "macOS"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
        (b"\x80\x81\x82", "is not a shared library"),
        (b"\x7fELF\x02\x01", "is cut short"),
        (b"\x7fELF\x01\x01" + bytes(58), "is not a 64-bit"),
        (b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x01\x00" + bytes(46), "an object file that was not linked"),
        (b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\x00\xff\x00" + bytes(44), "is a library for machine 255"),
    ],
)
def test_what_is_not_a_library_is_told_what_it_is(content: bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "some.so"
    path.write_bytes(content)
    for reader in (Library, exported_symbols):
        with pytest.raises(LibraryError, match=rf"some\.so: .*{reason}"):
            reader(path)


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(LibraryError, match="there is no such file"):
        Library(tmp_path / "none.so")
    with pytest.raises(LibraryError, match="is a folder"):
        Library(tmp_path)
    with pytest.raises(LibraryError, match=r"cannot dynamically load|not a shared library"):
        Library(sys.executable)


def test_exported_symbols_are_read_without_loading(tmp_path: Path) -> None:
    text = SCALE + "static int hidden; int shown; int elsewhere(void); int user(void) { return hidden + elsewhere(); }"
    symbols = exported_symbols(compile_library(text, tmp_path))
    assert {"cuda_scale", "shown", "user"} <= symbols
    assert not {"hidden", "elsewhere"} & symbols


@given(st.data())
def test_a_damaged_library_is_read_or_refused(spy: Spy, data: st.DataObject) -> None:
    whole = spy.library.path.read_bytes()
    damaged = bytearray(whole[: data.draw(st.integers(0, len(whole)))])
    for at in data.draw(st.lists(st.integers(0, 63), max_size=4)):
        if at < len(damaged):
            damaged[at] ^= 0xFF
    path = spy.library.path.with_name("damaged.so")
    path.write_bytes(damaged)
    error = error_of(LibraryError, exported_symbols, path)
    assert error is None or str(path) in str(error)


def test_two_libraries_do_not_see_each_other(tmp_path: Path) -> None:
    """With RTLD_GLOBAL the second would run the first one's helper."""
    text = SCALE.replace("input[i] * scale", "helper() + scale").replace("int32_t cuda", "{}\nint32_t cuda")
    first = Library(compile_library(text.replace("{}", "float helper(void) { return 1; }"), tmp_path, "first"))
    second = Library(compile_library(text.replace("{}", "float helper(void) { return 2; }"), tmp_path, "second"))
    zeros = np.zeros(1, np.float32)
    assert [first.scale(zeros, 0.0)[0], second.scale(zeros, 0.0)[0]] == [1, 2]


def test_a_library_whose_symbols_cannot_be_resolved(tmp_path: Path) -> None:
    path = compile_library("int nowhere(void); int f(void) { return nowhere(); }", tmp_path)
    with pytest.raises(LibraryError, match="undefined symbol: nowhere"):
        Library(path)


def test_a_library_may_lie_anywhere(spy: Spy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(spy.library.path, tmp_path / "with space.so")
    monkeypatch.chdir(tmp_path)
    assert Library("with space.so").missing == ()
