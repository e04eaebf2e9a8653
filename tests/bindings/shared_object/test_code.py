"""Where a library's code and its functions lie, told from its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from bindings import LibraryError
from bindings.shared_object.code import read_code
from tests.compiler import compile_library

SOURCE = """
static __attribute__((noinline)) int inner(int n) { return n * 3; }
int outer(int n) { return inner(n) + inner(n + 1); }
"""


def test_every_function_lies_in_a_segment_and_none_in_another(tmp_path: Path) -> None:
    code = read_code(compile_library(SOURCE, tmp_path))
    ours = [one for one in code.functions if one.name.partition(".")[0] in {"inner", "outer"}]
    assert len(ours) == 2
    assert ours[0].start < ours[0].stop <= ours[1].start < ours[1].stop
    for one in ours:
        assert any(address <= one.start < one.stop <= address + len(held) for address, held in code.segments)


def test_one_that_was_stripped_names_no_functions(tmp_path: Path) -> None:
    assert read_code(compile_library(SOURCE, tmp_path, "stripped", "-s")).functions == ()


def test_one_that_is_damaged_is_told_so(tmp_path: Path) -> None:
    whole = compile_library(SOURCE, tmp_path).read_bytes()
    damaged = tmp_path / "damaged.so"
    damaged.write_bytes(whole[:32] + (2**60).to_bytes(8, "little") + whole[40:])
    with pytest.raises(LibraryError, match=r"damaged\.so: is damaged or cut short; its code cannot be read"):
        read_code(damaged)
    damaged.write_text("no library")
    with pytest.raises(LibraryError, match="is text, not a shared library"):
        read_code(damaged)
