"""What a framework is told: the functions in C hand over what is asked in Python, and refuse what that cannot say."""

from __future__ import annotations

import ctypes
import functools
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bindings import CallError, Library, LibraryError
from conformance.builds import BuildError
from conformance.catalogue.cases import CASES
from conformance.frameworks import Framework, FrameworkMap, compile_sources, link, read_map
from conformance.frameworks.asked import OPERANDS, asked
from conformance.frameworks.entry import Entry
from conformance.frameworks.parameter import ENTRIES, NUMBER, START, entries, value
from conformance.kernels import MapError, Project
from conformance.paths import EXAMPLES
from tests.compiler import compile_library

EXAMPLE = (EXAMPLES / "framework" / "tensors.toml").read_text()
# Others: with offsets, 64 bits, codes, other orders, operands that have to be dense, one axis at most.
WIDE = """
[framework]
[map_strided]
call = "tensorMap"
arguments = ["float* input + input_offset", "long long* input_strides", "size_t input_size - input_offset",
             "float* output + output_offset", "int64_t* output_shape", "int64_t* output_strides", "int32_t output_axes"]
functions = { exp = 3 }
[zip_strided]
empty = false
call = "tensorZip"
arguments = ["float* a", "float* b", "int64_t a_offset", "uint64_t output_elements * 4", "float* output",
             "size_t* output_strides", "size_t* output_shape", "unsigned function", "void* stream"]
functions = { subtract = 7 }
[reduce_strided]
keeps_axis = false
several_axes = "not supported"
call = "tensorReduce"
arguments = ["float start", "float* input + input_offset", "int64_t* input_shape", "int64_t* input_strides", "int axes",
             "float* output + output_offset", "int64_t* output_shape", "int64_t* output_strides", "int axis",
             "int64_t length", "int function"]
functions = { sum = 9, mean = 8 }
[matmul_strided]
call = "MatrixMultiply"
arguments = ["float* a + a_offset", "int64_t* a_shape", "int64_t* a_strides", "float* b + b_offset", "int64_t* b_shape",
             "int64_t* b_strides", "float* output + output_offset", "int64_t* output_strides", "int64_t batch", "int m",
             "int n", "int k"]
"""
MAPS = {"example": EXAMPLE, "wide": WIDE}
_KEPT = """
#include <stdint.h>
#include <stdio.h>
#include <string.h>
static char told[1 << 16];
static size_t used;
static void number(double x) { used += (size_t)snprintf(told + used, sizeof told - used, "%.17g ", x); }
static void whole(__int128 x) {
    const unsigned long long size = (unsigned long long)(x < 0 ? -x : x);
    used += (size_t)snprintf(told + used, sizeof told - used, "%s%llu ", x < 0 ? "-" : "", size);
}
const char* last(void) { return told; }
void forget(void) { told[used = 0] = 0; }
"""


def source(chart: FrameworkMap) -> str:
    """A framework that keeps what it is told: the lengths of shapes are known from the map's own counts."""
    return "\n".join([_KEPT, *(_function(entry) for entry in chart.entries.values())])


def _function(entry: Entry) -> str:
    """One of its functions; of a shape or strides it is told how many entries there are by `counts`."""
    declared = ", ".join(f"{p.declared} p{place}" for place, p in enumerate(entry.parameters))
    lines = [f"int {entry.call}_counts[{len(entry.parameters)}];"]
    lines.append(f"{entry.settings.returns} {entry.call}({declared}) {{")
    for place, parameter in enumerate(entry.parameters):
        if parameter.kind == ENTRIES:
            lines.append(f"for (int k = 0; k < {entry.call}_counts[{place}]; k++) whole(p{place}[k]);")
        elif parameter.kind == NUMBER:
            lines.append(f"whole(p{place});")
        elif parameter.kind == START:
            lines.append(f"number(p{place});")
        else:
            lines.append(f"(void)p{place};")
    lines.append("return 0; }" if entry.settings.returns == "int" else "}")
    return "\n".join(lines)


def expected(entry: Entry, arguments: Mapping[str, Any], start: float) -> Iterator[str]:
    """What the last call of the function is told."""
    *_, call = asked(entry.operation, entry.settings, arguments)
    numbers = {**call.numbers, **({"function": entry.functions[call.numbers["function"]]} if entry.functions else {})}
    told = type(call)(call.operands, numbers, call.is_product)
    for parameter in entry.parameters:
        if parameter.kind == ENTRIES:
            yield from map(str, entries(parameter.text, told))
        elif parameter.kind == NUMBER:
            yield str(value(parameter.text, told))
        elif parameter.kind == START:
            yield f"{start:.17g}"


@functools.cache
def cases(operation: str) -> list[str]:
    """Every case there is of it that is not designed, and a share of those."""
    own = [id for id, case in CASES.items() if case.operation == operation]
    designed = [id for id in own if "/designed/" in id]
    return [id for id in own if "/designed/" not in id] + designed[::3]


@pytest.mark.parametrize(
    ("name", "operation"),
    [*itertools.product(MAPS, OPERANDS)],
)
def test_functions_hand_over_what_is_asked_or_refuse_it(
    name: str, operation: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conformance.frameworks.library.CACHE", tmp_path / "cache")
    path = tmp_path / "map.toml"
    path.write_text(MAPS[name])
    chart = read_map(path)
    entry, theirs = chart.entries[operation], compile_library(source(chart), tmp_path, name)
    linked = link(Framework(theirs, path))
    ours, kept = Library(linked.path), ctypes.CDLL(str(theirs))
    kept.last.restype = ctypes.c_char_p
    counts = (ctypes.c_int * len(entry.parameters)).in_dll(kept, f"{entry.call}_counts")
    told = refused = 0
    for id in cases(operation):
        arguments = CASES[id].arguments(0)
        kept.forget()
        calls = [] if entry.unsaid(arguments) else [*asked(operation, entry.settings, arguments)]
        if len(calls) > 1:
            continue  # each pass has counts of its own
        for place, parameter in enumerate(entry.parameters):
            counts[place] = len(entries(parameter.text, calls[0])) if calls and parameter.kind == ENTRIES else 0
        function = getattr(ours, operation)
        if calls:
            function(**arguments)
            start = float(np.float32(arguments.get("start", 0.0)))
            assert kept.last().decode().split() == [*expected(entry, arguments, start)], id
            told += 1
        else:
            with pytest.raises(CallError, match="-4"):
                function(**arguments)
            assert kept.last() == b"", id
            refused += 1
    assert told
    assert refused


def test_a_function_that_the_library_has_not_is_named(tmp_path: Path) -> None:
    theirs = compile_library("int tensorMaps(void) { return 0; }", tmp_path, "theirs")
    (tmp_path / "map.toml").write_text(EXAMPLE)
    with pytest.raises(MapError, match=r"a function that theirs\.so exports, got 'tensorMap'; did you mean tens"):
        link(Framework(theirs, tmp_path / "map.toml"))
    (tmp_path / "theirs.cu").write_text("int tensorMaps(void) { return 0; }")
    with pytest.raises(MapError, match=r'theirs\.cu defines as extern "C", got \'tensorMap\'; did you mean tensorMaps'):
        compile_sources(Project((tmp_path / "theirs.cu",), tmp_path / "map.toml"))
    with pytest.raises(LibraryError, match="there is no such file"):
        link(Framework(tmp_path / "gone.so", tmp_path / "map.toml"))


def test_a_framework_is_found_by_the_name_that_is_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.frameworks.library.CACHE", tmp_path / "cache")
    (tmp_path / "map.toml").write_text(EXAMPLE)
    source = (EXAMPLES / "framework" / "tensors.c").read_text()
    theirs = compile_library(source, tmp_path, "theirs", "-lm", "-Wl,-soname,libtensors.so.1")
    with pytest.raises(BuildError, match=r"its SONAME libtensors\.so\.1, beside it, got none: link it"):
        link(Framework(theirs, tmp_path / "map.toml"))
    (tmp_path / "libtensors.so.1").symlink_to(theirs)
    assert "map_strided" not in Library(link(Framework(theirs, tmp_path / "map.toml")).path).missing
