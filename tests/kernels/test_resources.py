"""The table of what kernels need: read from cuobjdump's words, compared with the last one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "cuda" / "tools"
sys.path.insert(0, str(TOOLS))  # scripts, that import each other by name
import resources  # noqa: E402
import tables  # noqa: E402
import usage  # noqa: E402
from usage import Need  # noqa: E402

from tests.tools import needs  # noqa: E402

NVCC = """
Fatbin elf code:
================
arch = sm_75
code version = [1,8]

Resource usage:
 Function _ZN43_GLOBAL__N__3bb5e6a9_10_softmax_cu_00446f2514softmax_kernelI9RowLayoutILi32ELi4ELb1EEEEvPKfPfii:
  REG:38 STACK:0 SHARED:0 LOCAL:0 CONSTANT[0]:376 TEXTURE:0 SURFACE:0 SAMPLER:0

Fatbin elf code:
================
arch = sm_90a
code version = [1,8]

Resource usage:
 Function _ZN43_GLOBAL__N__3bb5e6a9_10_softmax_cu_00446f2514softmax_kernelI9RowLayoutILi32ELi4ELb1EEEEvPKfPfii:
  REG:40 STACK:16 SHARED:128 LOCAL:0 TEXTURE:0 SURFACE:0 SAMPLER:0
"""
CLANG = """
Resource usage:
 Function _ZN12_GLOBAL__N_114softmax_kernelI9RowLayoutILi32ELi4ELb1EEEEvPKfPfii:
  REG:36 STACK:0 SHARED:0 LOCAL:0 CONSTANT[0]:376 TEXTURE:0 SURFACE:0 SAMPLER:0
"""
MANGLED = "_ZN12_GLOBAL__N_114softmax_kernelI9RowLayoutILi32ELi4ELb1EEEEvPKfPfii"


def test_usage_is_read_for_each_architecture_under_one_name() -> None:
    assert list(usage.read_usage(NVCC)) == [
        ("sm_75", MANGLED, Need(registers=38, shared=0, local=0)),
        ("sm_90a", MANGLED, Need(registers=40, shared=128, local=16)),
    ]
    assert list(usage.read_usage(CLANG)) == [("", MANGLED, Need(36, 0, 0))]


@needs("c++filt")
def test_names_are_those_of_the_source() -> None:
    assert usage.plain_names([MANGLED]) == {MANGLED: "softmax_kernel<RowLayout<32, 4, true>>"}


def test_a_kernel_that_is_missing_or_spills_is_told() -> None:
    spills = {"sm_75": Need(8, 0, 16), "sm_80": Need(8, 0, 8), "sm_90": Need(8, 0, 8)}
    needs = {"f": spills, "g<1>": {"sm_80": Need(8, 0, 0)}}
    assert list(resources.complaints(needs, dict.fromkeys(spills, "nvcc"))) == [
        "f keeps 8 bytes a thread in local memory on sm_80, sm_90",
        "g<1> is missing from sm_75, sm_90",
    ]
    assert list(resources.complaints({}, {"sm_75": "nvcc"})) == ["there is no kernel at all"]


def test_an_explained_stack_is_no_complaint_up_to_its_size() -> None:
    for name, (size, why) in resources.EXPLAINED.items():
        assert why
        for more, told in ((0, 0), (8, 1)):
            needs = {f"{name}<2>": {"sm_90": Need(32, 0, size + more)}}
            assert len(list(resources.complaints(needs, {"sm_90": "nvcc"}))) == told


def test_what_explains_an_instance_does_not_explain_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "EXPLAINED", {"f": (8, "why"), "f<Fp16": (16, "why")})
    kernels = ("f", "f<Bf16, 2>", "f<Fp16, 2>", "f<Fp16s>", "fs<Fp16>")
    assert [resources.explained(kernel) for kernel in kernels] == [8, 8, 16, 8, 0]


def test_changes_say_what_grew_by_how_much_and_where() -> None:
    old = {
        "f": {"sm_70": Need(9, 0, 0), "sm_80": Need(8, 0, 0), "sm_90": Need(8, 0, 0)},
        "gone": {"sm_80": Need(8, 0, 0)},
    }
    new = {
        "f": {"sm_80": Need(10, 64, 0), "sm_90": Need(10, 0, 0)},
        "new": {"sm_80": Need(8, 0, 0), "sm_90": Need(7, 4, 0)},
    }
    assert list(tables.changes(old, new, ["sm_80", "sm_90"])) == [
        "f: registers 8 -> 10 (+2) on sm_80, sm_90",
        "f: shared 0 -> 64 (+64) on sm_80",
        "gone is gone",
        "new is new: up to 8 registers, 4 shared, 0 local",
    ]
    assert list(tables.changes(new, new, ["sm_80", "sm_90"])) == []


def test_a_table_is_read_as_it_was_written() -> None:
    needs, compilers = (
        {"f<1, 2>": {"sm_70": Need(9, 4, 2), "sm_80": Need(8, 0, 0)}},
        {"sm_70": "clang 19", "sm_80": "nvcc 13"},
    )
    assert tables.read(tables.written(needs, compilers), Need) == (needs, compilers)
    assert tables.read("", Need) == ({}, {})


def test_a_column_of_another_compiler_or_of_none_is_not_compared() -> None:
    known = ("sm_70", "sm_80")
    both = {"sm_70": "clang 19", "sm_80": "nvcc 13"}
    assert list(tables.not_compared(both, both, known)) == []
    assert list(tables.not_compared(both, {"sm_80": "nvcc 13"}, known)) == ["sm_70: it was not compiled"]
    assert list(tables.not_compared({"sm_80": "nvcc 13"}, both, known)) == ["sm_70: the table does not have it yet"]
    assert list(tables.not_compared(both, {**both, "sm_70": "clang 20"}, known)) == [
        "sm_70: compiled by clang 20, the table by clang 19"
    ]


def test_the_committed_table_holds_every_architecture_and_no_unexplained_spill() -> None:
    needs, compilers = tables.read(resources.TABLE.read_text(encoding="utf-8"), Need)
    assert list(compilers) == [*resources.BY_CLANG, *resources.BY_NVCC]
    assert list(resources.complaints(needs, compilers)) == []
