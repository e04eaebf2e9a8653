"""What a source says of itself: which functions it defines, and which files of one's own it includes."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.builds import BuildError
from conformance.kernels.functions import functions
from conformance.kernels.sources import check_sources, own_files, root_of

THEIRS = Path(__file__).parent / "theirs"


def found(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "a.cu"
    path.write_text(text)
    return [str(one) for one in functions(path)]


def test_functions_are_found_with_namespaces_parameters_and_lines() -> None:
    shown = {one.name: one for one in functions(THEIRS / "norms.cu")}
    assert [*shown] == ["rms_norm_kernel", "rms_norm", "softmax_kernel", "course::silu", "matmul", "main"]
    assert shown["rms_norm"].is_template
    assert not shown["rms_norm"].is_kernel
    assert shown["softmax_kernel"].is_kernel
    assert shown["rms_norm"].names == ("out", "x", "gamma", "n", "d", "epsilon")
    assert str(shown["course::silu"]) == "course::silu(float* y, float* x, int count) (norms.cu:46)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int f();\nvoid g(void) {}", ["g() (a.cu:2)"]),
        ("__global__ void __launch_bounds__(256) k(const float* __restrict__ x) {}",
         ["k(const float* __restrict__ x) (a.cu:1)"]),
        ("struct S { void f() {} };\nint table[] = {1, 2};\nstruct S g(struct S s) { return s; }",
         ["g(struct S s) (a.cu:3)"]),
        ('extern "C" {\nint f(int a) { if (a) { return 1; } return 0; }\n}\nint g(int b) { return b; }',
         ["f(int a) (a.cu:2)", "g(int b) (a.cu:4)"]),
        ("namespace a { namespace { void f() {} } namespace b::c { void g() {} } }",
         ["a::f() (a.cu:1)", "a::b::c::g() (a.cu:1)"]),
        ("template <int N, class T = std::vector<int>>\nvoid f(std::pair<T, int> p, int n = 3) {}",
         ["f(std::pair<T,int> p, int n = 3) (a.cu:2)"]),
        ("// void f() {}\n/* void g() {} */ const char* s = \"void h() {}\";", []),
    ],
)  # fmt: skip
def test_a_definition_is_told_from_what_looks_like_one(text: str, expected: list[str], tmp_path: Path) -> None:
    assert found(tmp_path, text) == expected


def test_files_that_sources_include_are_found_and_the_folder_of_all(tmp_path: Path) -> None:
    for name, text in (
        ("src/a.cu", '#include "../common/b.cuh"\n#include <cuda_runtime.h>\n#include "gone.h"\n'),
        ("common/b.cuh", '#include <d.h>\n#  include "c.h"\n'),
        ("common/c.h", '#include "b.cuh"\n'),
        ("more/d.h", ""),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    files = own_files([tmp_path / "src/a.cu"], [tmp_path / "more"])
    assert {path.relative_to(tmp_path).as_posix() for path in files} == {
        "src/a.cu", "common/b.cuh", "common/c.h", "more/d.h",
    }  # fmt: skip
    assert root_of(files) == tmp_path


def test_what_is_no_source_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text("")
    (tmp_path / "latin.cu").write_bytes(b"\xff")
    for names, said in (
        (["b.cu"], "expected a file of CUDA C\\+\\+, got no such file"),
        (["a.cuh"], "headers are found by themselves"),
        (["a.cu", "./a.cu"], "expected each file once, got it twice"),
        (["latin.cu"], "expected CUDA C\\+\\+ in UTF-8"),
    ):
        with pytest.raises(BuildError, match=said):
            check_sources([tmp_path / name for name in names])
