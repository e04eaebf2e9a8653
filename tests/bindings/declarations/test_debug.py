"""Debug information: what a library was compiled from, read off the library itself."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from bindings import header_path
from bindings.declarations import DeclarationError, compare, compare_each
from bindings.header.read import read_header
from bindings.header.records import Function
from tests.compiler import compile_library
from tests.tools import needs

EXAMPLES = Path(__file__).parents[3] / "examples"
OPERATIONS = read_header().operations


def body(function: Function, order: list[int]) -> str:
    given = ", ".join(f"{function.parameters[i].ctype} {function.parameters[i].name}" for i in order)
    return f"int32_t {function.symbol}({given}) {{ return 0; }}\n"


def plain(path: Path, source: str, *flags: str) -> Path:
    """Compiled without the header, which would not take other declarations."""
    head = "#include <stdint.h>\ntypedef uint16_t assayer_fp16, assayer_bf16;\n"
    return compile_library(head + source, path, "library", *flags)


def exchanged(function: Function) -> list[int]:
    """The places of its arguments with the first two exchanged that differ in kind."""
    kinds = [parameter.ctype if parameter.is_scalar else "pointer" for parameter in function.parameters]
    order = list(range(len(kinds)))
    place = next(i for i in order if kinds[i] != kinds[i + 1])
    order[place], order[place + 1] = order[place + 1], order[place]
    return order


def test_what_the_header_declares_agrees(tmp_path: Path) -> None:
    text = "".join(body(f, list(range(len(f.parameters)))) for f in OPERATIONS.values())
    assert compare(plain(tmp_path, text, "-g", "-O2")) == []


def test_an_exchange_in_any_operation_is_named(tmp_path: Path) -> None:
    text = "".join(body(f, exchanged(f)) for f in OPERATIONS.values())
    found = compare_each(plain(tmp_path, text, "-g", "-O2"))
    assert {symbol for symbol, sentences in found.items() if sentences} == {f.symbol for f in OPERATIONS.values()}
    assert found["cuda_rmsnorm"][0] == ("cuda_rmsnorm: argument 3 is `int32 rows`, the header has `float* output`")


def test_the_code_of_an_exchange_is_the_same(tmp_path: Path) -> None:
    """So nothing but debug information, or another ABI, can tell."""
    objcopy = shutil.which("objcopy")
    if not objcopy:
        pytest.skip("no objcopy on the path")
    function, code = OPERATIONS["rmsnorm"], []
    for name, order in (("right", [*range(7)]), ("swapped", [0, 1, 2, 3, 5, 4, 6])):
        (folder := tmp_path / name).mkdir()
        text = body(function, order).replace("return 0;", "output[rows * hidden_dim - 1] = input[0] * eps; return 0;")
        path = plain(folder, text, "-O2")
        subprocess.run([objcopy, "-O", "binary", "--only-section=.text", path, folder / "text"], check=True)
        code.append((folder / "text").read_bytes())
    assert code[0] == code[1]


@pytest.mark.parametrize("flags", [(), ("-g1",)])
def test_a_library_that_says_nothing(tmp_path: Path, flags: tuple[str, ...]) -> None:
    path = plain(tmp_path, body(OPERATIONS["silu"], [0, 1, 2, 3]), *flags)
    with pytest.raises(DeclarationError, match=r"found none: compile with -g"):
        compare(path)


def test_a_damaged_library(tmp_path: Path) -> None:
    path = plain(tmp_path, body(OPERATIONS["silu"], [0, 1, 2, 3]), "-g")
    with path.open("rb") as file:
        section = ELFFile(file).get_section_by_name(".debug_abbrev")
        start, size = section["sh_offset"], section["sh_size"]
    content = bytearray(path.read_bytes())
    content[start : start + size] = b"\xa5" * size
    path.write_bytes(content)
    with pytest.raises(DeclarationError, match=r"library\.so: its debug information cannot be read"):
        compare(path)


@needs("c++")
def test_cplusplus(tmp_path: Path) -> None:
    source, path = tmp_path / "mine.cpp", tmp_path / "libmine.so"
    source.write_text(
        '#include "assayer.h"\nnamespace mine { extern "C" int32_t cuda_scale(const float* x, float by, float* y, '
        "int64_t n, void*) { for (int64_t i = 0; i < n; i++) y[i] = x[i] * by; return 0; } }\n"
    )
    subprocess.run(["c++", "-g", "-shared", "-fPIC", f"-I{header_path().parent}", "-o", path, source], check=True)
    assert compare(path) == []


@needs("rustc")
def test_rust(tmp_path: Path) -> None:
    path = tmp_path / "libmine.so"
    words = ("rustc", "--edition", "2021", "--crate-type", "cdylib", "-g", "-o", path, EXAMPLES / "rust" / "silu.rs")
    subprocess.run(words, check=True)
    assert compare(path) == []


def fortran(tmp_path: Path, source: str, *flags: str) -> list[str]:
    """What differs from the header in a library of Fortran."""
    path, written = tmp_path / "libmine.so", tmp_path / "mine.f90"
    written.write_text(source, encoding="utf-8")
    subprocess.run(["gfortran", "-g", *flags, "-shared", "-fPIC", "-J", tmp_path, "-o", path, written], check=True)
    return compare(path)


RMSNORM = (EXAMPLES / "fortran" / "rmsnorm.f90").read_text(encoding="utf-8")
OPTIMISED = pytest.mark.parametrize("flags", [("-O0",), ("-Og",), ("-O2",), ("-O3", "-flto")])


@needs("gfortran")
@OPTIMISED
def test_fortran(tmp_path: Path, flags: tuple[str, ...]) -> None:
    assert fortran(tmp_path, RMSNORM, *flags) == []


@needs("gfortran")
@OPTIMISED
@pytest.mark.parametrize(
    ("right", "wrong", "arguments"),
    [
        ("integer(c_int), value :: rows, hidden_dim", "integer(c_int) :: rows, hidden_dim", ["rows", "hidden_dim"]),
        ("real(c_float), value :: eps", "real(c_float) :: eps", ["eps"]),
        ("type(c_ptr), value ::", "type(c_ptr) ::", ["input", "weight", "output", "stream"]),
    ],
)
def test_what_fortran_takes_by_address(
    tmp_path: Path, flags: tuple[str, ...], right: str, wrong: str, arguments: list[str]
) -> None:
    assert RMSNORM.count(right) == 1
    sentences = fortran(tmp_path, RMSNORM.replace(right, wrong), *flags)
    assert [sentence.partition("*")[2].strip("* ").partition("`")[0] for sentence in sentences] == arguments
    assert all(said.endswith("Fortran takes the address of what has no attribute `value`") for said in sentences)


@needs("gfortran")
@OPTIMISED
def test_arrays_of_fortran(tmp_path: Path, flags: tuple[str, ...]) -> None:
    """Of a stated size or of any they come by address, as the header has them; without bounds as a descriptor."""
    head = "function cuda_add(a, b, output, n, stream) result(code) bind(c)\nuse iso_c_binding\n"
    numbers = "type(c_ptr), value :: stream\ninteger(c_int64_t), value :: n\ninteger(c_int32_t) :: code\n"
    body = "output(:n) = a(:n) + b(:n)\ncode = 0\nend function\n"
    source = f"{head}{numbers}real(c_float) :: a(n), b(*), output(n)\n{body}"
    assert fortran(tmp_path, source, *flags) == []
    assert fortran(tmp_path, source.replace("b(*)", "b(:)"), *flags) == [
        "cuda_add: argument 2 is `descriptor* b`, the header has `const float* b`: "
        "an array without bounds comes as a descriptor: declare it `(*)`, or by its sizes"
    ]
