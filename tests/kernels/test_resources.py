"""The table of what kernels need: read from cuobjdump's words, compared with the last one."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

_FILE = Path(__file__).parents[2] / "cuda/tools/resources.py"
_SPEC = importlib.util.spec_from_file_location("resources", _FILE)
assert _SPEC
assert _SPEC.loader
resources = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(resources)

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
    assert list(resources.read_usage(NVCC)) == [("sm_75", MANGLED, "38/0/0"), ("sm_90a", MANGLED, "40/128/16")]
    assert list(resources.read_usage(CLANG)) == [("", MANGLED, "36/0/0")]


@pytest.mark.skipif(not shutil.which("c++filt"), reason="c++filt comes with a compiler's tools")
def test_names_are_those_of_the_source() -> None:
    assert resources.plain_names([MANGLED]) == {MANGLED: "softmax_kernel<RowLayout<32, 4, true>>"}


def test_a_kernel_that_is_missing_or_spills_is_told() -> None:
    table = {"f": {"sm_75": "8/0/16", "sm_80": "8/0/8"}, "g<1>": {"sm_80": "8/0/0"}}
    assert list(resources.complaints(table, ["sm_75", "sm_80"])) == [
        "f keeps 8 bytes a thread in local memory on sm_80",
        "g<1> is missing from sm_75",
    ]
    assert list(resources.complaints({}, ["sm_75"])) == ["there is no kernel at all"]


def test_an_explained_stack_is_no_complaint() -> None:
    [name] = resources.EXPLAINED
    assert list(resources.complaints({f"{name}<2>": {"sm_90": "32/0/32"}}, ["sm_90"])) == []


def test_tables_are_compared_cell_by_cell_in_the_columns_both_have() -> None:
    before = resources.written({"f": {"sm_70": "9/0/0", "sm_80": "8/0/0"}, "gone": {"sm_80": "8/0/0"}})
    now = resources.written({"f": {"sm_80": "9/0/0"}, "new": {"sm_80": "8/0/0"}})
    assert list(resources.changes(before, now)) == [
        "f on sm_80: 8/0/0 before, now 9/0/0",
        "gone on sm_80: 8/0/0 before, now absent",
        "new on sm_80: absent before, now 8/0/0",
    ]
    assert list(resources.changes(now, now)) == []
