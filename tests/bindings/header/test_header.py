"""Reading the header: what is derived from it, and how a text that cannot be read is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bindings import Header, HeaderError, header_path, parse_header, read_header
from tests.compiler import compile_library
from tests.errors import error_of

ORIGINAL = """
silu add mul scale softmax softmax_topk rmsnorm rmsnorm_residual gemm gemm_beta batched_gemm
rope_freqs rope_forward rope_qk attention_scores attention_output flash_attention
cross_entropy_forward cross_entropy_backward aux_loss_forward adamw_step zero_grad grad_clip scatter_add
argmax sample topk_sample topp_sample
"""


def operation(parameters: str, after: str = "") -> str:
    return f"/* What it does. */\nint32_t cuda_f({parameters}, void* stream){after};\n"


def test_the_original_operations_are_all_there(header: Header) -> None:
    names = ORIGINAL.split()
    assert len(names) == 28
    assert set(names) <= header.operations.keys()


def test_every_operation_is_documented_and_has_a_family(header: Header) -> None:
    assert [f.operation for f in header.operations.values() if not f.doc or not f.family] == []
    assert header.operations["rmsnorm_backward"].family == "norm"
    assert header.operations["rmsnorm_backward"].doc.startswith("g = d_output * weight; d_input = ")


def test_codes_have_the_meaning_written_beside_them(header: Header) -> None:
    assert header.version == header.constants["ASSAYER_VERSION"].value
    assert header.meaning(0) == "ASSAYER_OK"  # and not the number of an activation
    assert header.meaning(-1) == "ASSAYER_UNAVAILABLE (not in this build)"
    assert header.meaning(-3) == "ASSAYER_NO_MEMORY"
    assert "device's runtime" in header.meaning(700)
    assert "does not know" in header.meaning(-77)


def test_a_declaration_becomes_a_record(header: Header) -> None:
    function = header.operations["gemm_beta"]
    a, _, c, *_ = function.parameters
    assert [p.name for p in function.parameters] == ["A", "B", "C", "M", "N", "K", "alpha", "beta", "stream"]
    assert (a.ctype, a.element, a.stars, a.const, a.direction) == ("const float*", "float32", 1, True, "in")
    assert (c.direction, c.read_if and c.read_if.text, c.shape_text) == ("updated", "beta != 0", "(M, N)")
    lists = header.operations["multi_adamw"].by_name
    assert (lists["params"].ctype, lists["params"].each, lists["params"].direction) == (
        "float* const*",
        ("count", "sizes"),
        "updated",
    )
    assert lists["weight_decays"].host
    assert header.operations["rope_forward"].by_name["freqs"].shape_text == "(at least seq_len + offset, head_dim / 2)"


def test_the_plain_declarations_are_those_of_the_header(header: Header, tmp_path: Path) -> None:
    """A compiler that sees both refuses them if they differ."""
    compile_library(f'#include "assayer.h"\n{header.declarations}\n', tmp_path, "both", "-Werror")


def test_the_header_is_read_once() -> None:
    assert read_header() is read_header()
    assert read_header(header_path()).operations.keys() == read_header().operations.keys()


def test_sixteen_bit_arrays_have_their_type() -> None:
    text = operation("const float16_t* x SHAPE(n), bfloat16_t* y SHAPE(n), int n")
    x, y, *_ = parse_header(text).operations["f"].parameters
    assert (x.type.dtype, y.element) == (np.float16, "bfloat16")


def test_comments_directives_and_line_breaks_may_stand_anywhere() -> None:
    text = """
#define LIMIT 7   // seven
#if defined(__cplusplus) && 1
extern "C" {
#else
#define C_ONLY 1
#endif
#ifdef __cplusplus
#if 1
nonsense ( ;
#endif
#endif
/* ---- first ---- */
// One line.
int32_t cuda_f(const float* /* in */ x
  SHAPE(n, /* two */ (m + 1) * 2), float *y SHAPE(n), // out
  int n, int m, void *stream) REQUIRES(m >= 0,
  n % 2 == 0);
"""
    header = parse_header(text)
    function = header.operations["f"]
    assert (function.family, function.doc, function.line) == ("first", "One line.", 15)
    assert {name: constant.value for name, constant in header.constants.items()} == {"LIMIT": 7, "C_ONLY": 1}
    assert [condition.text for condition in function.requires] == ["m >= 0", "n % 2 == 0"]


X = "const float* x SHAPE(n), int n"


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("\nvoid cuda_f(void* stream);", 2, "expected `int32_t`"),
        ("int32_t f(void* stream);", 1, "named cuda_... or assayer_"),
        ("int32_t cuda_f(int n\n);", 1, r"the last argument is the void\* stream"),
        ("int32_t cuda_f(", 1, "expected the type of an argument"),
        (operation("const float* x, int n"), 2, "x: a pointer needs SHAPE"),
        (operation("const quad* x SHAPE(n), int n"), 2, "`quad` is not in the table"),
        (operation("const float* x SHAPE(m), float* y SHAPE(k), int n"), 2, "`k` in `k` is no argument"),
        (operation(X + ", int n"), 2, "two arguments are named n"),
        (operation("const float* x UPDATED SHAPE(n), int n"), 2, "x is const"),
        (operation("const float* x WITHIN(3) SHAPE(n), int n"), 2, "WITHIN and BELOW are for integers"),
        (operation("const float* x SHAPE(n) LOUD, int n"), 2, "`LOUD` is no annotation"),
        (operation("const float* x SHAPE(n) MOVING, int n"), 2, "x: MOVING is for numbers"),
        (operation("float* y READ_IF(n > 2) SHAPE(n), int n"), 2, "y: READ_IF is for inputs"),
        (operation("const float* const* x READ_IF(n > 2) EACH(c, s), int c"), 2, "EACH names a count|READ_IF is"),
        (operation("const float* x READ_IF(m > 2) SHAPE(n), int n"), 2, "`m` in `m > 2` is no argument"),
        (operation("int n READ_IF(n > 2)"), 2, "n is a number"),
        (operation("const float* x SHAPE(n << 2), int n"), 2, "cannot read|may hold"),
        (operation("const float* x SHAPE(f(n)), int n"), 2, "may hold names, numbers"),
        (operation("const float* x SHAPE(n"), 2, r"expected `\)` after the arguments of cuda_f"),
        ("int32_t cuda_f(const float* x SHAPE((n, int n);", 1, "does not end"),
        (operation("const float* x SHAPE(), int n"), 2, "empty"),
        (operation("const float* const* x EACH(n), int n"), 2, "EACH takes"),
        (operation("const float* const* x EACH(n, n), int n"), 2, "EACH names a count"),
        (operation("int n SHAPE(n)"), 2, "n is a number"),
        (operation(X, " REQUIRES(n >= depth)"), 2, "`depth` in `n >= depth` is no argument"),
        (operation(X, " REQUIRES(0 < n < 3)"), 2, "one comparison"),
        (operation(X) + operation(X), 4, "declared twice"),
        (operation(X) + "/* open", 3, "does not end"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(text: str, line: int, problem: str) -> None:
    with pytest.raises(HeaderError, match=problem) as caught:
        parse_header(text, "some.h")
    assert caught.value.line == line
    assert str(caught.value).startswith(f"some.h:{line}: ")


def test_a_size_that_only_an_array_that_may_be_absent_shows_is_given_as_a_number() -> None:
    from bindings import Signature

    for absent in ("float* y UPDATED_IF(b != 0) SHAPE(m)", "const float* y READ_IF(b != 0) SHAPE(m)"):
        text = operation(f"const float* x SHAPE(n), {absent}, int n, int m, float b")
        signature = Signature(parse_header(text).operations["f"])
        assert signature.names == ("x", "y", "m", "b")
        assert signature.whole_sizes == ("m", "n")


def test_a_size_that_is_told_only_at_least_is_given_as_a_number() -> None:
    from bindings import Signature

    signature = Signature(parse_header(operation("const float* x SHAPE(AT_LEAST(n)), int n")).operations["f"])
    assert signature.names == ("x", "n")


def test_an_input_that_may_be_absent() -> None:
    text = operation("const float* x SHAPE(n), const float* y READ_IF(b != 0) SHAPE(n), int n, int b")
    x, y, *_ = parse_header(text).operations["f"].parameters
    assert (x.is_optional, y.is_optional, y.direction, y.read_if and y.read_if.text) == (False, True, "in", "b != 0")


TENSOR = "STRIDED(shape, strides, offset)"
LAYOUT = "const int64_t* shape HOST SHAPE(axes), const int64_t* strides HOST SHAPE(axes), int axes, int64_t offset"


def test_the_storage_of_a_tensor() -> None:
    text = operation(f"const float* x SHAPE(OR_ZERO(n)) {TENSOR}, {LAYOUT}, int64_t n")
    function = parse_header(text).operations["f"]
    strided, axis = function.by_name["x"].strided, function.by_name["x"].shape[0]
    assert strided is not None
    assert (strided.shape, strided.strides, strided.offset, axis.or_zero) == ("shape", "strides", "offset", True)


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        ("const float* x SHAPE(n) STRIDED(shape, strides)", "STRIDED takes the names of a shape, of strides and of an"),
        (f"const float* x SHAPE(n, n) {TENSOR}", "STRIDED is for a storage with one axis"),
        (f"float* x SHAPE(n) {TENSOR}", "STRIDED is for a storage with one axis that is read, or UPDATED"),
        ("const float* x SHAPE(n) STRIDED(shape, n, offset)", "STRIDED names two const int64_t HOST arrays"),
        ("const float* x SHAPE(n) STRIDED(shape, strides, axes)", "STRIDED names an int64_t as the offset"),
    ],
)
def test_a_storage_that_is_not_declared_whole(array: str, expected: str) -> None:
    error = error_of(HeaderError, parse_header, operation(f"{array}, {LAYOUT}, int n"))
    assert error is not None
    assert expected in str(error)


TEXT = header_path().read_text(encoding="utf-8")


INSERTED = st.sampled_from(["", "(", ")", "*", ";", "SHAPE(", "/*", '"', "#"])


@pytest.mark.slow
@settings(max_examples=40)  # each reads the whole header
@given(st.integers(0, len(TEXT)), st.integers(0, 200), INSERTED)
def test_a_damaged_header_is_read_or_refused(start: int, length: int, inserted: str) -> None:
    damaged = TEXT[:start] + inserted + TEXT[start + length :]
    error = error_of(HeaderError, parse_header, damaged)
    assert error is None or 1 <= error.line <= damaged.count("\n") + 1


def test_a_header_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "binary.h"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(HeaderError, match=r"binary\.h:1: is not UTF-8"):
        read_header(path)
