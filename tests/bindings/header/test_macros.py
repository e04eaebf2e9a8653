"""Declarations made by the header's own macros."""

from __future__ import annotations

from pathlib import Path

import pytest

from bindings import HeaderError, parse_header
from tests.compiler import compile_library

TEXT = """/* ---- copies ---- */
#define DECLARE(half, format) \\
    /* output = input. */ \\
    int32_t cuda_copy_##format(const half* input SHAPE(n), half* output SHAPE(n), \\
                               int64_t n, void* stream); \\
    /* output = -input. */ \\
    int32_t cuda_negate_##format(const half* input SHAPE(n), half* output SHAPE(n), int64_t n, void* stream);
DECLARE(float, f32)
DECLARE(double, f64)
/* Another. */
int32_t cuda_last(const float* x SHAPE(n), int n, void* stream);
"""


def test_each_call_declares_the_operations_once_more() -> None:
    operations = parse_header(TEXT).operations
    assert list(operations) == ["copy_f32", "negate_f32", "copy_f64", "negate_f64", "last"]
    assert operations["copy_f64"].by_name["output"].element == "float64"
    assert operations["negate_f32"].doc == "output = -input."
    assert operations["copy_f32"].family == "copies"


def test_lines_are_those_of_the_file() -> None:
    operations = parse_header(TEXT).operations
    assert [operations[name].line for name in ("copy_f32", "negate_f32", "copy_f64", "last")] == [4, 7, 4, 11]


def test_an_error_in_a_body_names_its_line() -> None:
    with pytest.raises(HeaderError, match=r"x\.h:5: .*`quad` is not in the table"):
        parse_header(TEXT.replace("int64_t n, void* stream); \\", "quad n, void* stream); \\"), "x.h")


def test_a_call_with_another_number_of_arguments() -> None:
    with pytest.raises(HeaderError, match=r"x\.h:8: expected DECLARE\(half, format\), found DECLARE\(float\)"):
        parse_header(TEXT.replace("DECLARE(float, f32)", "DECLARE(float)"), "x.h")


def test_a_compiler_reads_the_same(tmp_path: Path) -> None:
    head = "#include <stdint.h>\n#define SHAPE(...)\n"
    uses = "int64_t use(void) { return sizeof(&cuda_copy_f32) + sizeof(&cuda_negate_f64) + sizeof(&cuda_last); }\n"
    assert compile_library(head + TEXT + uses, tmp_path).exists()
