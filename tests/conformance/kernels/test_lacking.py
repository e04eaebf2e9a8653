"""What CUDA the emulator lacks is one message with file and line, whatever the compiler makes of it."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.kernels.messages import message
from conformance.paths import CUDA
from tests.tools import CXX, needs

pytestmark = needs(*CXX)
HEAD = "#include <cuda_runtime.h>\n#include <cooperative_groups.h>\n"
LACKS = "a.cu:4: not in the emulator: "


def said_of(source: str, folder: Path) -> str:
    """What rewriter and compiler say of a file, and the judge after them."""
    (folder / "a.cu").write_text(source)
    rewrite = [sys.executable, str(CUDA / "emulator" / "rewrite"), str(folder / "a.cu"), "a.cpp", "a.cu"]
    done = subprocess.run(rewrite, cwd=folder, capture_output=True, text=True)
    if done.returncode == 0:
        flags = ["-std=c++17", "-O1", "-DEMULATOR_REFUSES_EARLY", f"-I{CUDA / 'emulator' / 'include'}"]
        compiler = [*CXX, *flags, "-c", "a.cpp", "-o", "a.o"]
        done = subprocess.run(["env", "LC_ALL=C", *compiler], cwd=folder, capture_output=True, text=True)
    assert done.returncode, f"compiles: {shlex.join(CXX)}"
    return message(done.stderr, [folder / "a.cu"], folder, None)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("#include <cublas_v2.h>", "#include <cublas_v2.h>: cuBLAS;"),
        ("#include <cub/cub.cuh>", "#include <cub/cub.cuh>: Thrust and CUB;"),
        ("__device__ void f() { __vabsdiffu4(1, 2); }", "__vabsdiffu4: an intrinsic that is not there;"),
        (
            "template <class T> __device__ T f(T x) { return __vabs4(x); } __device__ int g() { return f(1); }",
            "__vabs4: an intrinsic that is not there;",
        ),
        ("void f(cudaTextureObject_t t);", "cudaTextureObject_t: textures and surfaces;"),
        ("void f() { cudaIpcCloseMemHandle(nullptr); }", "cudaIpcCloseMemHandle: a call of the runtime"),
        ('__device__ void f() { asm volatile("wgmma.fence.sync.aligned;"); }', "inline PTX, wgmma.fence.sync.aligned;"),
        ("__global__ void g(); __global__ void f() { g<<<1, 1>>>(); }", "a launch from a kernel"),
        ("__global__ void f() { cooperative_groups::this_grid().sync(); }", "grid_group::sync, for which blocks"),
        ("void f(void (*k)(int)) { cudaLaunchCooperativeKernel(k, 1, 1, nullptr); }", "cudaLaunchCooperativeKernel, "),
    ],
)
def test_it_is_named_with_file_and_line(line: str, named: str, tmp_path: Path) -> None:
    said = said_of(f"{HEAD}\n{line}\n", tmp_path)
    assert said.startswith(LACKS + named)
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('#include "helper.h"', "a.cu:4: #include helper.h: expected a file beside this one"),
        ("int f() { return 1 }", "a.cu:4: expected"),
        ("void f() { g<<<1, 1>>>; }", "a.cu:4: no arguments after <<<...>>>"),
    ],
)
def test_what_is_no_lack_of_the_emulator_is_the_compilers_own_sentence(line: str, said: str, tmp_path: Path) -> None:
    assert said_of(f"{HEAD}\n{line}\n", tmp_path).startswith(said)


def test_what_is_not_compiled_is_not_refused(tmp_path: Path) -> None:
    guarded = '#ifndef ASSAYER_EMULATED\n__device__ void f() { asm("wgmma.fence.sync.aligned;"); }\n#endif\n'
    assert said_of(f"{HEAD}{guarded}error\n", tmp_path).startswith("a.cu:6: ")


def test_nvccs_errors_are_no_lack_of_the_emulator(tmp_path: Path) -> None:
    printed = f'{tmp_path}/a.cu(3): error: identifier "__vabs9" is undefined\n'
    said = message(printed, [tmp_path / "a.cu"], tmp_path, None, emulated=False)
    assert said == 'a.cu:3: identifier "__vabs9" is undefined'


@pytest.mark.parametrize(
    ("linker", "said"),
    [
        (
            "a.cpp:9: undefined reference to `launch_it(float*)'",
            "expected a file that defines it beside the others, got none",
        ),
        ("b.o: multiple definition of `launch_it(float*)'; a.o", "expected one definition, got several"),
    ],
)
def test_what_the_linker_objects_to_is_named_where_it_stands(linker: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text("\nvoid launch_it(float*);\n")
    printed = f"ld: a.o: in function `f':\n{linker}\n"
    assert message(printed, [tmp_path / "a.cu"], tmp_path, None) == f"a.cu:2: launch_it: {said}"
