"""The emulator's tensor cores against real ones, to the last bit: what lies below, and the instructions."""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from reference.tensor_core import dot, matrix_unit
from tests.emulator.programs import ROOT, Programs
from tests.tensor_core_vectors import ALL, Bits, Dots, as_bits, as_numbers
from tests.tools import CXX, build_with_cmake, cmake_build, needs

pytestmark = needs(*CXX)
FORMATS = ("float16", "bfloat16", "tf32", "e4m3", "e5m2")  # in the order of dots.cu
WARP = 32
Compute = Callable[[Dots, bool], Bits]


@pytest.fixture(scope="module")
def compute() -> Compute:
    """Dot products by the emulator, each call in a process of its own: a library reads its architecture once, and what
    it keeps for each thread lies in memory of which a process has little."""
    folder = build_with_cmake(ROOT / "build" / "tensor-core", "tensor_core", Path(__file__).parent / "tensor_core")
    library = cmake_build.built_library(folder, "tensor_core")

    def run(dots: Dots, by_mma: bool) -> Bits:
        count = -(-len(dots.d) // WARP) * WARP  # whole warps, the last with zeros
        padded = [np.zeros((count, *x.shape[1:]), np.uint32) for x in (dots.a, dots.b, dots.c)]
        for into, given in zip(padded, (dots.a, dots.b, dots.c), strict=True):
            into[: len(given)] = given
        shared = np.frombuffer(mmap.mmap(-1, 4 * count), np.uint32)
        unit = dots.unit
        described = np.array([unit.length, unit.fraction, unit.kept, unit.by_halves], np.uint32)
        arrays = [ctypes.c_void_p(x.ctypes.data) for x in (*padded, shared, described)]
        format, k, half = FORMATS.index(dots.operands), dots.a.shape[1], dots.result == "float16"
        child = os.fork()
        if child == 0:
            os.environ["ASSAYER_EMULATOR_ARCH"] = f"sm_{dots.architecture}"
            call = ctypes.CDLL(str(library)).dots
            os._exit(call(format, k, half, by_mma, *arrays[:4], ctypes.c_int64(count), arrays[4]))
        assert os.waitpid(child, 0)[1] == 0
        return shared[: len(dots.d)]

    return run


@pytest.mark.parametrize("dots", ALL, ids=lambda dots: dots.name)
def test_every_bit_is_that_of_the_device(dots: Dots, compute: Compute) -> None:
    assert np.array_equal(compute(dots, False), dots.d)


@pytest.mark.parametrize("dots", [dots for dots in ALL if dots.instruction == "mma"], ids=lambda dots: dots.name)
def test_the_instructions_of_the_architecture_give_them(dots: Dots, compute: Compute) -> None:
    assert np.array_equal(compute(dots, True), dots.d)


@pytest.mark.parametrize("architecture", [70, 75, 80, 86, 89, 90, 100, 120])
@pytest.mark.parametrize("operands", FORMATS)
def test_both_descriptions_of_an_architecture_agree(architecture: int, operands: str, compute: Compute) -> None:
    """Of those that no device was asked for (sm_75, sm_120) the reference and the emulator say the same."""
    try:
        unit = matrix_unit(architecture, operands)
    except ValueError:
        return
    k = 32 if operands in ("e4m3", "e5m2") else 8
    rng = np.random.default_rng(architecture)
    a, b = (as_bits(rng.normal(size=(256, k)).astype(np.float32), operands) for _ in range(2))
    c = as_bits(rng.normal(size=256).astype(np.float32), "float32")
    dots = Dots("drawn", architecture, "mma", operands, "float32", a, b, c, c)
    due = dot(as_numbers(a, operands), as_numbers(b, operands), as_numbers(c, "float32"), operands, unit)
    if architecture != 70 or operands != "float16":  # of m8n8k4 alone, which takes four at a time
        assert np.array_equal(compute(dots, True), as_bits(due, "float32"))
    assert np.array_equal(compute(dots, False), as_bits(due, "float32"))


@pytest.mark.parametrize(
    ("program", "architecture", "said"),
    [
        ("mma_of_half", "sm_75", "executed mma.m16n8k16 of half, which sm_75 lacks"),
        ("mma_of_half", "sm_70", "executed ldmatrix, which sm_70 lacks"),
        ("wmma_of_bfloat16", "sm_75", "executed wmma::mma_sync of bfloat16, which sm_75 lacks"),
        ("staged_copies", "sm_75", "executed cp.async, which sm_75 lacks"),
    ],
)
def test_what_an_architecture_lacks_is_named(fast: Programs, program: str, architecture: str, said: str) -> None:
    outcome = fast.run(program, arch=architecture)
    assert said in outcome.said
    assert outcome.lines == [f"{program} wrong cudaErrorLaunchFailure"]
