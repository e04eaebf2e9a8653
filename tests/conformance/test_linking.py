"""What lacks in a library is named before anything of it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.commands import cli
from conformance.linking import LinkError, link, link_exported
from conformance.operations import OPERATIONS
from tests.compiler import compile_library

SILU = "int32_t cuda_silu(const float* x, float* y, int64_t n, void* s) { (void)s; WORK return 0; }\n"
HEAD = '#include "assayer.h"\n'
EVERY = [function.symbol for function in OPERATIONS.values()]


def silu(work: str = "(void)x; (void)y; (void)n;") -> str:
    return SILU.replace("WORK", work)


def test_the_c_library_links(stub_path: Path) -> None:
    assert link(stub_path, EVERY).sentences == []


def test_what_is_missing_and_what_is_nearly_right(tmp_path: Path) -> None:
    library = compile_library(f"{HEAD}{silu()}int cuda_rmsnrom(void) {{ return 0; }}\n", tmp_path)
    found = link(library, ["cuda_silu", "cuda_rmsnorm", "cuda_gemm"])
    assert found.missing == ("cuda_rmsnorm", "cuda_gemm")
    assert found.near == ("near to what the header has: cuda_rmsnrom (cuda_rmsnorm)",)
    assert link_exported(library).sentences == [*found.near]


def test_all_that_the_library_itself_lacks(tmp_path: Path) -> None:
    theirs = "float fast_exp(float); float other(float); static float fast_epx(float x) { return x; }\n"
    library = compile_library(
        f"{HEAD}{theirs}{silu('for (int64_t i = 0; i < n; i++) y[i] = fast_exp(x[i]) + other(fast_epx(x[i]));')}",
        tmp_path,
        "library",
        "-O0",
    )
    exp, other = sorted(link_exported(library).unresolved)
    assert exp == (
        "fast_exp: library.so refers to it, and nothing that it is linked to defines it; did you mean fast_epx?"
    )
    assert other == "other: library.so refers to it, and nothing that it is linked to defines it"


def test_the_mathematics_library_that_python_brings_along(tmp_path: Path) -> None:
    library = compile_library(f"#include <math.h>\n{HEAD}{silu('y[0] = sinf(x[n - 1]);')}", tmp_path)
    assert link_exported(library).unresolved == (
        "sinf: library.so refers to it, and nothing that it is linked to defines it: link it with -lm",
    )


def test_a_version_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    old = compile_library("float theirs(float x) { return x; }\n", tmp_path / "other", "libtheirs")
    versions = tmp_path / "map"
    versions.write_text("NEW_2 { global: theirs; };\n")
    flags = (f"-Wl,--version-script={versions}", "-Wl,-soname,libtheirs.so")
    new = compile_library("float theirs(float x) { return x; }\n", tmp_path, "libtheirs", *flags)
    text = f"{HEAD}float theirs(float);\n{silu('y[0] = theirs(x[n - 1]);')}"
    library = compile_library(text, tmp_path, "library", "-Wl,--no-as-needed", str(new), f"-Wl,-rpath,{tmp_path}")
    assert link_exported(library).unresolved == ()
    old.replace(new)
    (sentence,) = link_exported(library).unresolved
    assert "theirs" in sentence
    assert "version NEW_2: it was linked on a newer system" in sentence


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], stub_path: Path) -> None:
    library = compile_library(f"{HEAD}float gone(float);\n{silu('y[0] = gone(x[n - 1]);')}", tmp_path)
    assert cli.main(["link", "--library", str(library), "-o", "silu,rmsnorm"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("gone: library.so refers to it")
    assert "missing: cuda_rmsnorm" in said
    assert cli.main(["link", "--library", str(stub_path)]) == 0
    assert cli.main(["link", "--library", str(tmp_path / "none.so")]) == 2


def test_a_run_names_all_that_lacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    theirs = "float first(float); float second(float);\n"
    library = compile_library(f"{HEAD}{theirs}{silu('y[0] = first(x[n - 1]) + second(x[0]);')}", tmp_path)
    assert cli.main(["run", "--library", str(library), "-o", "silu"]) == 2
    said = capsys.readouterr().out
    assert {"first: library.so", "second: library.so"} <= {" ".join(line.split()[:2]) for line in said.splitlines()}


def test_without_a_linker(stub_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(LinkError, match=r"not linked: .*no-such-compiler"):
        link(stub_path, EVERY)
