"""Faults of the kernels: planted where they say, built for the emulator of CUDA, found and named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance import operations
from conformance.proof.faults import FAULTS as C_FAULTS
from conformance.proof.faults import FaultError, build, judge
from conformance.proof.faults.build import recipe_of
from conformance.proof.faults.kernels import FAULTS
from conformance.proof.faults.recipes import CLibrary, Kernels
from conformance.proof.faults.run_mode import AS_IT_IS, BACKWARDS, BY_RACES
from conformance.proof.faults.trial import cases_of, judge_fault
from tests.conformance.proof.empty import GARBLED, empty_lines
from tests.tools import CXX, needs

BY_NAME = {fault.name: fault for fault in FAULTS}
FEW = (
    "functions.cuh: the exponent's sign",
    "elementwise.cu: swiglu_backward's gradients exchanged",
    "map.cuh: more threads than a block has",
    "clip.cu: written before it is refused",
)
needs_compiler = needs(*CXX)


@pytest.mark.slow
def test_every_fault_stands_where_it_says() -> None:
    sources = Kernels("fast").read()
    for fault in FAULTS:
        assert fault.is_of_a_kernel
        assert fault.planted(sources)[fault.file] != sources[fault.file]
        assert set(fault.operations) <= operations.OPERATIONS.keys()
        assert {case.operation for case in cases_of(fault)} == set(fault.operations), fault.name


def test_no_name_stands_twice_and_each_begins_with_its_file() -> None:
    names = [fault.name for fault in (*C_FAULTS, *FAULTS)]
    assert len(set(names)) == len(names)
    assert [fault.name for fault in FAULTS if not fault.name.startswith(f"{fault.file}: ")] == []


def test_no_fault_is_said_by_a_line_that_says_nothing() -> None:
    """But for those in GARBLED, which gets no longer: one that is said by its line leaves it."""
    assert [fault.name for fault in FAULTS if fault.is_said_by("all cases passed")] == []
    assert {fault.name for fault in FAULTS if any(map(fault.is_said_by, empty_lines(fault)))} == GARBLED


def test_a_library_is_linked_from_what_its_operations_need() -> None:
    recipe = Kernels("fast")
    sources = recipe.read()
    assert set(recipe.units(sources, ["scatter_add"])) == {"emulator.cpp", "runtime.cu", "embedding.cu", "sort.cu"}
    assert {"gemm.cu", "product.cu"} <= set(recipe.units(sources, ["gemm"]))
    of_halves = set(recipe.units(sources, ["gemm_bf16"]))
    # gemm_swiglu.cu defines what product.cuh declares and matrix_swiglu.cuh calls.
    assert {"gemm_halves.cu", "gemm_swiglu.cu", "matrix_bf16.cu", "product.cu"} <= of_halves
    assert "softmax.cu" not in of_halves
    assert set(recipe.units(sources, ["add_bf16"])) == {"emulator.cpp", "runtime.cu", "elementwise.cu"}
    assert {"attention_halves.cu", "attention_backward.cu"} <= set(recipe.units(sources, ["attention_backward_bf16"]))


def test_faults_of_two_libraries_do_not_go_together() -> None:
    with pytest.raises(FaultError, match="expected faults of one library, got c and kernels-fast"):
        recipe_of(C_FAULTS[0], FAULTS[0])
    assert type(recipe_of(C_FAULTS[0])) is CLibrary


def test_a_manner_is_how_a_process_is_started() -> None:
    assert AS_IT_IS.prefix() == BACKWARDS.prefix() == ()
    assert BACKWARDS.environment() == {"ASSAYER_EMULATOR_SCHEDULE": "reverse"}
    assert BY_RACES.prefix()[-1] == "thread"


@pytest.mark.slow
@needs_compiler
def test_faults_are_found_and_named() -> None:
    for result in judge(1, [BY_NAME[name] for name in FEW]):
        assert (result.found, result.right) == (True, True), result


@pytest.mark.slow
@needs_compiler
def test_a_fault_that_nothing_finds_is_not_found() -> None:
    harmless = replace(BY_NAME[FEW[0]], name="reduce.cuh: harmless", new="expf(0.0f - x)")
    assert judge_fault(harmless).first_line == "all cases passed"


@pytest.mark.slow
@needs_compiler
def test_a_fault_that_does_not_compile_is_an_error() -> None:
    with pytest.raises(FaultError, match="error: expected"):
        build(replace(BY_NAME[FEW[0]], name="functions.cuh: broken", new="expf(x"))
