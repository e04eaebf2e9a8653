"""What the emulator's compiler does not read of a kernel is not mutated."""

from __future__ import annotations

import pytest

from conformance.proof.faults.recipes import Kernels
from conformance.proof.mutants.conditions import unread
from conformance.proof.mutants.library import Library
from conformance.proof.mutants.source import lines_of

TEXT = """\
#if defined(ASSAYER_EMULATED)
a();
#if __CUDA_ARCH__ >= 800
b();
#else
c();
#endif
#elif __CUDA_ARCH__ >= 800
d();
#else
e();
#endif
#if defined(__CUDA_ARCH__)
f();
#else
g();
#endif
#if OTHER
h();
#else
i();
#endif
""".splitlines()


def test_branches_for_a_device_are_not_read() -> None:
    read = [code for number, code in enumerate(TEXT, 1) if number not in unread(TEXT) and not code.startswith("#")]
    assert "".join(read) == "a();c();g();h();i();"


@pytest.mark.parametrize("file", ["ptx.cuh", "ptx_matrix.cuh"])
def test_no_instruction_of_a_device_is_mutated(file: str) -> None:
    lines = [line.code for line in lines_of(Library(Kernels("fast")).sources[file])]
    skipped = unread(lines)
    assert any("asm" in code for code in lines)
    assert [number for number, code in enumerate(lines, 1) if "asm" in code and number not in skipped] == []
