"""A line is known to affect the operations that it does affect: judged by others, its mutants would live on."""

from __future__ import annotations

import pytest

from conformance import operations
from conformance.proof.faults import FAULTS, Fault
from conformance.proof.faults.kernels import FAULTS as KERNEL_FAULTS
from conformance.proof.faults.recipes import CLibrary, Kernels
from conformance.proof.mutants.definitions import definitions_of
from conformance.proof.mutants.library import Library
from conformance.proof.mutants.reach import Reach


def line_of(fault: Fault, sources: dict[str, str]) -> int:
    """Where a fault's text begins."""
    old, new = sources[fault.file], fault.planted(sources)[fault.file].removeprefix(fault.helpers)
    at = next(place for place, (a, b) in enumerate(zip(old, new, strict=False)) if a != b)
    return old.count("\n", 0, at) + 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("recipe", "faults"), [(CLibrary(), FAULTS), (Kernels("fast"), KERNEL_FAULTS)], ids=["C", "kernels"]
)
def test_every_fault_stands_where_its_operations_reach(recipe: CLibrary, faults: tuple[Fault, ...]) -> None:
    library = Library(recipe)
    for fault in faults:
        line = line_of(fault, library.sources)
        assert set(fault.operations) <= library.reach.operations(fault.file, line), fault.name


STRIDED = {"map_strided", "zip_strided"}
SWIGLU_BACKWARD = {"swiglu_backward", "swiglu_backward_bf16", "swiglu_backward_fp16"}
PRODUCTS = {name for name in operations.OPERATIONS if "gemm" in name and name.endswith(("_bf16", "_fp16"))}


@pytest.mark.parametrize(
    ("file", "text", "due"),
    [
        ("elementwise.c", "v->mul(length", {"mul"}),
        ("vector/elementwise.c", "d_up[i] = dy[i]", SWIGLU_BACKWARD),  # called through a table
        (
            "vector/elementwise.c",
            "y[i] = x[i] * sigmoid_lane(x[i]);",
            {"silu", *STRIDED},
        ),  # and by its number in an array of that
        ("vector/strided.c", "MAP(reciprocal", STRIDED),  # made by a macro
        ("halves/plan.c", "static void divide(", PRODUCTS),  # of the name of others, private to its file
        ("softmax.c", "int32_t cuda_softmax(", {"softmax"}),
        ("halves/elementwise.h", "v->add(length", {"add_bf16", "add_fp16"}),
        (
            "attention.c",
            "KV_CACHE_APPEND(assayer_bf16",
            {"kv_cache_append", "kv_cache_append_bf16", "kv_cache_append_fp16"},
        ),
        ("runtime.c", "malloc((size_t)bytes)", {"steps/resident"}),
    ],
)
def test_a_line_affects_what_reaches_it(library: Library, file: str, text: str, due: set[str]) -> None:
    source = library.sources[file]
    assert library.reach.operations(file, source.count("\n", 0, source.index(text)) + 1) == due


def test_a_line_that_nothing_reaches_may_affect_everything() -> None:
    reach = Reach({"one.c": "int32_t cuda_add(void) { return 0; }\nint alone;\n"}, operations.OPERATIONS, "services")
    assert reach.operations("one.c", 1) == {"add"}
    assert reach.operations("one.c", 2) == operations.OPERATIONS.keys()


def test_a_name_that_is_private_to_another_file_is_another() -> None:
    one = "static int part(void) { return 1; }\nint32_t cuda_add(void) { return part(); }\n"
    two = "static int part(void) { return 2; }\nint32_t cuda_mul(void) { return part(); }\n"
    reach = Reach({"one.c": one, "two.c": two}, operations.OPERATIONS, "services")
    assert reach.operations("one.c", 1) == {"add"}
    assert reach.operations("two.c", 1) == {"mul"}


def test_a_name_in_a_namespace_of_its_own_is_no_other_file_s_that_a_header_mentions() -> None:
    one = "namespace {\n\nint part() { return 1; }\n\n} // namespace\n\nint32_t cuda_add() { return part(); }\n"
    two = '#include "two.h"\nint32_t cuda_mul() { return part(2); }\n'
    reach = Reach({"one.cu": one, "two.cu": two, "two.h": "int part(int);\n"}, operations.OPERATIONS, "services")
    assert reach.operations("one.cu", 3) == {"add"}
    outside = one.replace("namespace {", "").replace("} // namespace", "")
    reach = Reach({"one.cu": outside, "two.cu": two, "two.h": "int part(int);\n"}, operations.OPERATIONS, "services")
    assert reach.operations("one.cu", 3) == {"add", "mul"}


def test_a_name_that_a_header_mentions_is_of_the_unit_that_is_compiled() -> None:
    shared = "int both() { return part(); }\n"
    one = '#include "both.h"\nstatic int part() { return 1; }\nint32_t cuda_add() { return both(); }\n'
    sources = {"one.c": one, "two.c": one.replace("add", "mul"), "both.h": shared}
    reach = Reach(sources, operations.OPERATIONS, "services")
    assert [reach.operations(file, 2) for file in ("one.c", "two.c")] == [{"add"}, {"mul"}]
    assert reach.operations("both.h", 1) == {"add", "mul"}


def test_what_reaches_anything_of_a_file() -> None:
    one = '#include "two.h"\nint32_t cuda_add(void) { return part(); }\n'
    two = '#include "two.h"\nint part(void) { return 1; }\nint32_t cuda_mul(void) { return 2; }\n'
    reach = Reach({"one.c": one, "two.c": two, "two.h": "int part(void);\n"}, operations.OPERATIONS, "services")
    assert [reach.of_file(file) for file in ("one.c", "two.c", "three.c")] == [{"add"}, {"add", "mul"}, set()]


def test_definitions_have_names() -> None:
    source = (
        "#define TWO 2\nenum { LINE = 16, PAGE };\nstruct pair {\n    int a;\n};\nstatic struct pair made(int a) {\n"
        "#define INNER 1\n    return (struct pair){a};\n}\n"
        "template <int N>\n__global__ void __launch_bounds__(N) kernel() {}\n"
    )
    found = [(one.line, one.name) for one in definitions_of("one.cu", source)]
    assert found == [(1, "TWO"), (2, "LINE"), (3, "pair"), (6, "made"), (10, "kernel")]


def test_what_several_names_mean_is_reached_by_each(library: Library) -> None:
    def reached(file: str, text: str) -> frozenset[str]:
        source = library.sources[file]
        return library.reach.operations(file, source.count("\n", 0, source.index(text)) + 1)

    joined = reached("vector/joins.c", "JOINED(smallest")  # a macro pastes the names
    assert {"reduce_strided"} <= joined < operations.OPERATIONS.keys()
    smallest = reached("vector/losses.c", "SMALLEST = 1e-12f")  # the second constant of a line
    assert {"bce_backward", "categorical_cross_entropy_backward"} <= smallest < operations.OPERATIONS.keys()
    assert "tanh" in reached("vector/activations.c", "hyperbolic_tangent(int64_t n")  # a table has it by another name
