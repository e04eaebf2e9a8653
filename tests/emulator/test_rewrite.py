"""The rewriter: grammar of CUDA's own becomes C++, line by line; what it does not understand is refused by line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.emulator.programs import ROOT, SOURCES

REWRITER = ROOT / "cuda" / "emulator" / "rewrite"


def rewrite(source: str, folder: Path) -> subprocess.CompletedProcess[str]:
    given, made = folder / "given.cu", folder / "made.cpp"
    given.write_text(source)
    command = [sys.executable, REWRITER, given, made, "given.cu"]
    return subprocess.run(command, capture_output=True, text=True)


def rewritten(source: str, folder: Path) -> str:
    done = rewrite(source, folder)
    assert (done.returncode, done.stderr) == (0, "")
    first, _, rest = (folder / "made.cpp").read_text().partition("\n")
    assert first == '#line 1 "given.cu"'
    return rest


@pytest.mark.parametrize("source", sorted(SOURCES.glob("*.cu*")), ids=lambda path: path.name)
def test_every_line_stays_where_it_is(source: Path, tmp_path: Path) -> None:
    given, made = source.read_text().splitlines(), rewritten(source.read_text(), tmp_path).splitlines()
    assert len(made) == len(given)
    over_several_lines = source.name in ("grammar.cu", "hopper.cu", "inline_ptx.cu", "ptx.cuh")  # launches, PTX
    for old, new in zip(given, made, strict=True):
        touched = any(word in old for word in ("<<<", ">>>", "__shared__", "asm volatile"))
        assert old == new or touched or over_several_lines


def test_a_launch_becomes_a_call(tmp_path: Path) -> None:
    assert rewritten("f<T, (a > b)><<<g, b, n>>>(x, y[1]);\n", tmp_path) == (
        "::emulator::launch(EMULATOR_KERNEL(f<T, (a > b)>), ::emulator::Configuration(g, b, n), x, y[1]);\n"
    )
    assert rewritten("f<<<1, 2>>>();\n", tmp_path).endswith("::emulator::Configuration(1, 2));\n")


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ('asm volatile(\n  "mov.u32 %0, %%laneid;"\n  : "=r"(x));', "inline PTX, mov.u32;"),
        ('asm("{ .reg .pred p; vote.sync.any.pred p, %0, 1; }" :: "r"(1));', "inline PTX, vote.sync.any.pred;"),
        ('asm("wgmma.fence.sync.aligned;" ::: "memory");', "inline PTX, wgmma.fence.sync.aligned;"),
        (
            'asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0}, {%1}, {%2}, {%3};" : "=r"(d) : "r"(a));',
            "inline PTX, mma",
        ),
        ('asm("cp.async.wait_group " COUNT ";" ::);', "inline PTX, cp.async.wait_group"),
        ('asm("bar.red.popc.u32 %0, 1, p;" : "=r"(x));', "inline PTX, bar.red.popc.u32;"),
        ('asm("ld.global.v4.f32 {%0, %1}, [%2];" : "=f"(x), "=f"(y) : "l"(p));', "inline PTX, ld.global.v4.f32;"),
        ('__asm__ __volatile__ ("trap;");', "inline PTX, trap;"),
        ("__global__ void f(int* p) { if (*p) {\n  g<<<1, 1>>>(p); } }", "a launch from a kernel"),
        ("struct S { __device__ void f() { g<<<1, 1>>>(0); } };", "a launch from a kernel"),
    ],
)
def test_what_cannot_be_run_is_refused_where_it_is_compiled(source: str, named: str, tmp_path: Path) -> None:
    made = rewritten(f"#if WANTED\n{source}\n#endif\nint last;\n", tmp_path)
    assert f'_Pragma("GCC error \\"not in the emulator: {named}' in made
    line = made.splitlines().index("int last;")
    assert line == source.count("\n") + 3
    for flags, code in ([], 0), (["-DWANTED=1"], 1):
        done = subprocess.run(["c++", *flags, "-E", tmp_path / "made.cpp"], capture_output=True, text=True)
        assert (done.returncode != 0) == bool(code)
        assert ("given.cu:" in done.stderr) == bool(code)


def test_ptx_that_is_known_becomes_calls(tmp_path: Path) -> None:
    made = rewritten('if (x) asm volatile("bar.sync %0, 64;" :: "r"(id + 1) : "memory"); else f();\n', tmp_path)
    assert made == (
        "if (x) do { const uint64_t emulated_0 = ::emulator::ptx::bits(id + 1); "
        "{ ::emulator::bar_sync(unsigned(emulated_0), unsigned(uint64_t(64))); } } while (0); else f();\n"
    )


@pytest.mark.parametrize(
    "source",
    [
        'void f() { asm volatile("nop" ::: "memory"); }\n',
        "__global__ void k();\n",
        "__host__ __device__ void f() {\n}\n",
    ],
)
def test_what_the_host_can_run_is_left_alone(source: str, tmp_path: Path) -> None:
    assert rewritten(source, tmp_path) == source


def test_comments_and_strings_are_left_alone(tmp_path: Path) -> None:
    text = '// f<<<1, 2>>>(x); __shared__ int a;\nconst char* s = "f<<<1>>>(); __shared__"; /* <<<\n __shared__ */\n'
    assert rewritten(text, tmp_path) == text


def test_an_array_in_several_lines_keeps_them(tmp_path: Path) -> None:
    made = rewritten("void f() {\n__shared__ float\n  a[2]\n   [3];\nint b;\n}\n", tmp_path)
    assert made.splitlines()[4] == "int b;"
    assert "typedef float a_shared_type[2]    [3];" in made


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("int a;\nf<<<1, 2>>>;\n", "line 2: no arguments after <<<...>>>"),
        ("f<<<1, 2;\n", "a <<< without its >>>"),
        ("\n\n<<<1, 2>>>(x);\n", "line 3: no kernel before <<<"),
        ("f<<<1, 2>>>(x;\n", "line 1: no bracket closes this ("),
        ("void f() {\n__shared__ float a[2]\n}\n", "line 2: a declaration of shared memory without its end"),
        ("void f() {\n__shared__ int a = 3;\n}\n", "line 2: not understood as shared memory"),
    ],
)
def test_what_it_does_not_understand_is_refused(source: str, complaint: str, tmp_path: Path) -> None:
    done = rewrite(source, tmp_path)
    assert done.returncode == 1
    assert complaint in done.stderr
    assert not (tmp_path / "made.cpp").exists()


def test_a_file_that_was_not_rewritten_does_not_compile(tmp_path: Path) -> None:
    source = tmp_path / "raw.cpp"
    source.write_text("#include <cuda_runtime.h>\n__shared__ float a[2];\n")
    headers = ROOT / "cuda" / "emulator" / "include"
    done = subprocess.run(
        ["c++", "-std=c++17", f"-I{headers}", "-c", source], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode != 0
    assert "did not go through the emulator's rewriter" in done.stderr
