"""Declarations in other languages: written from the header, read back, and compared with it."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bindings import Header, read_header
from bindings.declarations import LANGUAGES, DeclarationError, compare, differences, read, read_file, write
from tests.bindings.spellings import SPELLINGS
from tests.bindings.spy import Spy
from tests.compiler import compile_library
from tests.errors import error_of
from tests.tools import needs

SUFFIX = {"c": ".h", "rust": ".rs", "go": ".go", "ctypes": ".py"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_written_is_read_back_without_a_difference(language: str, header: Header) -> None:
    declarations = read(write(header, language), language)
    assert [d.symbol for d in declarations] == [
        f.symbol for f in (*header.operations.values(), *header.services.values())
    ]
    assert differences(declarations) == []


def test_written_c_compiles_beside_the_header(header: Header, tmp_path: Path) -> None:
    compile_library('#include "assayer.h"\n' + write(header, "c"), tmp_path, "both", "-Werror")


@needs("rustc")
def test_written_rust_compiles(header: Header, tmp_path: Path) -> None:
    (tmp_path / "lib.rs").write_text(write(header, "rust"), encoding="utf-8")
    command = ["rustc", "--edition", "2021", "--crate-type", "lib", "--emit", "metadata", "-D", "warnings", "lib.rs"]
    subprocess.run(command, cwd=tmp_path, check=True)


def test_written_ctypes_calls_a_library(header: Header, spy: Spy) -> None:
    names: dict[str, Any] = {}
    text = write(header, "ctypes").replace("assayer_", "cuda_")  # the spy has no services
    operations_only = "\n".join(line for line in text.splitlines() if not _is_of_a_service(line, header))
    exec(operations_only, names)
    library = ctypes.CDLL(str(spy.library.path))
    names["declare"](library)
    buffer = (ctypes.c_float * 4)()
    assert library.cuda_scale(buffer, 2.5, buffer, 4, None) == 0
    assert [spy.number(1), spy.number(3), spy.address(0)] == [2.5, 4, ctypes.addressof(buffer)]


def _is_of_a_service(line: str, header: Header) -> bool:
    return any(f"library.cuda_{name}." in line for name in header.services)


@pytest.mark.parametrize(("language", "text"), [(name, text) for name, texts in SPELLINGS.items() for text in texts])
def test_a_right_declaration_in_any_spelling(language: str, text: str) -> None:
    declarations = read(text, language)
    assert [d.symbol for d in declarations] == ["cuda_scale"]
    assert differences(declarations) == []


WRONG = [
    (
        "c",
        "int32_t cuda_scale(const float* input, float* output, float scale, int64_t n, void* stream);",
        [
            "cuda_scale: argument 2 is `float* output`, the header has `float scale`",
            "cuda_scale: argument 3 is `float scale`, the header has `float* output`",
        ],
    ),
    (
        "c",
        "int32_t cuda_gemm(const float* A, const float* B, float* C, int M, int K, int N, void* stream);",
        [
            "cuda_gemm: argument 5 is named `K`, the header has `int K` as argument 6",
            "cuda_gemm: argument 6 is named `N`, the header has `int N` as argument 5",
        ],
    ),
    (
        "c",
        "void cuda_silu(const double* input, const float* output, int n, void* stream);",
        [
            "cuda_silu: returns `void`, the header has `int32_t`",
            "cuda_silu: argument 1 is `const double* input`, the header has `const float* input`",
            "cuda_silu: argument 2 is `const float* output`, the header has `float* output`",
            "cuda_silu: argument 3 is `int n`, the header has `int64_t n`",
        ],
    ),
    (
        "c",
        "int32_t cuda_silu(const float* input, float* output, int64_t n);",
        ["cuda_silu: has 3 arguments, the header 4: argument 4 is nothing where the header has `void* stream`"],
    ),
    (
        "c",
        "int32_t cuda_softmax(const float* x, float* y, int rows, float scale, int cols, void* stream);",
        ["cuda_softmax: has 6 arguments, the header 5: argument 4 is `float scale` where the header has `int cols`"],
    ),
    (
        "c",
        "int32_t cuda_rmsnrm(const float* x);",
        ["cuda_rmsnrm: the header has no such function; did you mean cuda_rmsnorm?"],
    ),
    (
        "c",
        "int32_t cuda_sample(const float* l, int32_t* o, const int64_t* seeds, int b, unsigned v, float t, void* s);",
        [
            "cuda_sample: argument 3 is `const int64_t* seeds`, the header has `const uint64_t* seeds`",
            "cuda_sample: argument 5 is `unsigned v`, the header has `int vocab_size`",
        ],
    ),
    (
        "c",
        "int32_t cuda_multi_scale(float* arrays, const int64_t* sizes, const float* scale, int count, void* stream);",
        ["cuda_multi_scale: argument 1 is `float* arrays`, the header has `float* const* arrays`"],
    ),
    (
        "rust",
        "#[no_mangle] pub fn cuda_silu(input: *mut f32, output: *mut f32, n: u64, stream: *mut c_void) -> u32 { 0 }",
        [
            'cuda_silu: is not declared `extern "C"`',
            "cuda_silu: returns `u32`, the header has `int32_t`",
            "cuda_silu: argument 1 is `input: *mut f32`, the header has `const float* input`",
            "cuda_silu: argument 3 is `n: u64`, the header has `int64_t n`",
        ],
    ),
    (
        "rust",
        'extern "C" { fn cuda_silu(input: &[f32], output: *mut f32, n: i64, stream: *mut c_void); }',
        [
            "cuda_silu: returns `()`, the header has `int32_t`",
            "cuda_silu: argument 1 is `input: &[f32]`, the header has `const float* input`",
        ],
    ),
    (
        "go",
        "//export cuda_silu\nfunc cuda_silu(output, input *C.double, n C.int, stream unsafe.Pointer) {}",
        [
            "cuda_silu: returns `nothing`, the header has `int32_t`",
            "cuda_silu: argument 1 is `output *C.double`, the header has `const float* input`",
            "cuda_silu: argument 2 is `input *C.double`, the header has `float* output`",
            "cuda_silu: argument 3 is `n C.int`, the header has `int64_t n`",
        ],
    ),
    (
        "ctypes",
        "lib.cuda_silu.argtypes = [c_void_p, POINTER(c_double), c_int]\nlib.cuda_silu.restype = None",
        [
            "cuda_silu: returns `None`, the header has `int32_t`",
            "cuda_silu: has 3 arguments, the header 4: "
            "argument 2 is `POINTER(c_double)` where the header has `float* output`",
        ],
    ),
]


@pytest.mark.parametrize(("language", "text", "sentences"), WRONG)
def test_every_difference_is_one_sentence(language: str, text: str, sentences: list[str]) -> None:
    assert differences(read(text, language)) == sentences


def test_a_file_that_declares_nothing_is_no_agreement(tmp_path: Path) -> None:
    path = tmp_path / "empty.h"
    path.write_text("int main(void);")
    with pytest.raises(DeclarationError, match=r"empty\.h: declares none of the header's \d+ functions$"):
        compare(path)
    path.write_text("int32_t cuda_sliu(void);")
    with pytest.raises(DeclarationError, match=r"functions, got cuda_sliu$"):
        compare(path)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    for name, text, reason in [
        ("a.py", "def (", "cannot be read as ctypes"),
        ("a.h", "int f(); /* open", "this comment does not end"),
        ("a.zig", "", "expected a file that ends in .h"),
    ]:
        (tmp_path / name).write_text(text)
        with pytest.raises(DeclarationError, match=reason):
            read_file(tmp_path / name)
    with pytest.raises(DeclarationError, match="No such file"):
        read_file(tmp_path / "none.h")
    with pytest.raises(DeclarationError, match="expected one of c, rust, go, ctypes, got 'zig'"):
        read("", "zig")


WRITTEN = {language: write(read_header(), language) for language in LANGUAGES}


@pytest.mark.slow
@settings(max_examples=40)  # each reads all declarations
@given(st.sampled_from(list(LANGUAGES)), st.data())
def test_a_damaged_file_is_read_or_refused(language: str, data: st.DataObject) -> None:
    text = WRITTEN[language]
    start, length = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 50))
    inserted = data.draw(st.sampled_from(["", "(", ")", "{", "}", "*", "<", "/*", '"', ",", "const"]))
    damaged = text[:start] + inserted + text[start + length :]
    error_of(DeclarationError, lambda: differences(read(damaged, language)))


@given(st.sampled_from(sorted(read_header().operations)), st.data())
def test_two_arguments_that_changed_places_are_seen(operation: str, data: st.DataObject) -> None:
    function = read_header().operations[operation]
    number = data.draw(st.integers(0, len(function.parameters) - 2))
    words = [parameter.declaration for parameter in function.parameters]
    words[number : number + 2] = reversed(words[number : number + 2])
    found = differences(read(f"int32_t {function.symbol}({', '.join(words)});", "c"))
    assert found
    assert all(sentence.startswith(f"{function.symbol}: argument ") for sentence in found)
