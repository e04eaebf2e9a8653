"""What a library's file tells of its names, and of the slips that keep a function from being found."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from bindings import LibraryError
from bindings.shared_object.misnamed import left_out, listed, slips, words_of
from bindings.shared_object.symbols import Symbols, read_symbols
from tests.compiler import compile_library
from tests.tools import needs

SOURCE = """
__attribute__((visibility("hidden"))) int hidden(void) { return 1; }
static int local(void) { return 2; }
int exported(void) { return hidden() + local(); }
"""


def test_what_is_exported_what_is_kept_inside_and_what_is_needed(tmp_path: Path) -> None:
    inner = compile_library("int inner(void) { return 0; }", tmp_path, "inner")
    found = read_symbols(compile_library(SOURCE, tmp_path, "outer", "-O0", "-Wl,--no-as-needed", str(inner)))
    assert "exported" in found.exported
    assert {"hidden", "local"} <= found.internal
    assert not {"hidden", "local", "inner"} & found.exported
    assert any("inner" in name for name in found.needed)


def test_a_pipe_is_named_rather_than_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.so")
    with pytest.raises(LibraryError, match=r"pipe\.so: is a pipe or device, not a file$"):
        read_symbols(tmp_path / "pipe.so")


@pytest.mark.parametrize(
    ("mangled", "words"),
    [
        ("_Z9cuda_siluPKfPf", ["cuda_silu"]),
        ("_ZN3lib3ops9cuda_siluEPKf", ["lib", "ops", "cuda_silu"]),
        ("_ZN3lib9cuda_silu17h8404dc3c7da10256E", ["lib", "cuda_silu", "h8404dc3c7da10256"]),
        ("_RNvCs15kBYyAo9fc_3lib9cuda_silu", ["lib", "cuda_silu"]),
        ("_Z", []),
    ],
)
def test_the_words_of_a_mangled_name(mangled: str, words: list[str]) -> None:
    found = list(words_of(mangled))
    assert [word for word in found if word in words] == words


def slips_of(*exported: str, internal: tuple[str, ...] = ()) -> list[str]:
    return slips(Symbols(frozenset(exported), frozenset(internal), ()), ["cuda_silu", "cuda_rmsnorm"])


def test_each_slip_is_told_by_its_kind() -> None:
    rust = "_ZN3lib9cuda_silu17h8404dc3c7da10256E"
    assert slips_of(internal=("cuda_silu",))[0].startswith("hidden: cuda_silu; ")
    assert slips_of("_Z9cuda_siluPKf")[0].startswith("names mangled by C++: _Z9cuda_siluPKf (cuda_silu); ")
    assert slips_of(internal=(rust,))[0].startswith(f"names mangled by Rust: {rust} (cuda_silu); ")
    assert slips_of("RmsNorm", "silu")[0].startswith("spelled otherwise: silu (cuda_silu), RmsNorm (cuda_rmsnorm); ")
    assert slips_of("cuda_rmsnrom") == ["near to what the header has: cuda_rmsnrom (cuda_rmsnorm)"]
    assert slips_of(internal=("example.com/port/main.cuda_silu",))[0].startswith(
        "names of Go: example.com/port/main.cuda_silu (cuda_silu); write //export "
    )
    assert slips_of("something_else") == []


@pytest.mark.parametrize("name", ["__port_MOD_cuda_silu", "_QMportPcuda_silu", "_QPcuda_silu"])
def test_the_names_that_compilers_of_fortran_give(name: str) -> None:
    assert slips_of(name) == [f"names of Fortran: {name} (cuda_silu); declare them bind(c)"]


@pytest.mark.parametrize("name", ["port_mp_cuda_silu_", "port_mp_cuda_silu", "cuda_silu_"])
def test_names_that_c_may_have_as_well_are_not_said_to_be_fortrans(name: str) -> None:
    due = f"names as Fortran makes them: {name} (cuda_silu); declare them bind(c), or in C leave out what is added"
    assert slips_of(name) == [due]


def test_a_name_is_told_of_once() -> None:
    """cuda_silu_ is that of cuda_silu, and not also near to another."""
    symbols = Symbols(frozenset(["cuda_silu_"]), frozenset(), ())
    assert len(slips(symbols, ["cuda_silu", "cuda_relu", "cuda_gelu"])) == 1


FORGOTTEN = {
    "Rust": (
        'pub unsafe extern "C" fn cuda_silu(n: i64) -> i32 { n as i32 }\n',
        ("rustc", "--crate-type", "cdylib", "-o", "{out}", "{source}"),
        ".rs",
        "#[unsafe(no_mangle)]",
    ),
    "Go": (
        'package main\n\nimport "C"\n\n// export cuda_silu\nfunc cuda_silu(n int64) int32 { return int32(n) }\n\n'
        "func main() {}\n",
        ("go", "build", "-buildmode=c-shared", "-o", "{out}", "{source}"),
        ".go",
        "//export",
    ),
}


@pytest.mark.parametrize(
    "language", [pytest.param("Rust", marks=needs("rustc")), pytest.param("Go", marks=needs("go"))]
)
def test_a_function_that_its_compiler_leaves_out(language: str, tmp_path: Path) -> None:
    source, words, suffix, due = FORGOTTEN[language]
    out, written = tmp_path / "libmine.so", tmp_path / f"mine{suffix}"
    written.write_text(source, encoding="utf-8")
    subprocess.run([word.format(out=out, source=written) for word in words], check=True, cwd=tmp_path)
    symbols = read_symbols(out)
    assert symbols.maker == language
    assert slips(symbols, ["cuda_silu"]) == []
    [said] = left_out(symbols)
    assert said.startswith(f"it holds code of {language}, which leaves out a function that is not exported: ")
    assert due in said


def test_of_a_library_of_c_nothing_is_said(tmp_path: Path) -> None:
    assert left_out(read_symbols(compile_library(SOURCE, tmp_path))) == []


def test_a_function_is_told_of_once() -> None:
    found = slips_of("silu", "cuda_slu", internal=("cuda_silu",))
    assert [sentence.partition(":")[0] for sentence in found] == ["hidden"]


def test_a_list_ends_with_how_many_more_there_are() -> None:
    assert listed(["a", "b", "c"], 2) == "a, b and 1 more"
    assert listed(["a", "b"], 2) == "a, b"
