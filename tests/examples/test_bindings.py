"""Bindings in Rust and Go: their declarations are the header's, their own tests pass on host and device memory."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from bindings.declarations import compare_each
from bindings.header.read import read_header
from conformance.languages.listed import PORTS
from conformance.languages.ports import lacking
from conformance.paths import EXAMPLES

DECLARATIONS = {"rust": "rust/bindings/src/ffi.rs", "go": "go/bindings/declarations.h"}
SECONDS = 300
ALONE = {"GOPROXY": "off", "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod", "CARGO_NET_OFFLINE": "true"}


def run_tests(language: str, library: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the bindings' own tests, in a copy, on a library; skips where the compiler is missing or broken."""
    port = next(port for port in PORTS if port.name == language)
    if reason := lacking(port):
        pytest.skip(f"{language}: {reason}")
    source = shutil.copytree(EXAMPLES / language / "bindings", folder / language)
    library = library.resolve()
    commands: dict[str, tuple[str, ...]] = {
        "rust": ("cargo", "test", "--offline", "--locked", "--target-dir", str(folder / "target")),
        "go": ("go", "test", "-count=1", "-v", "."),
    }
    given = {"ASSAYER_LIBRARY": str(library), "CGO_LDFLAGS": f"{library} -Wl,-rpath,{library.parent}"}
    environment = {**os.environ, **ALONE, **given}
    return subprocess.run(
        commands[language], cwd=source, env=environment, capture_output=True, text=True, check=False, timeout=SECONDS
    )


@pytest.mark.parametrize("language", DECLARATIONS)
def test_declarations_are_the_header_s(language: str) -> None:
    found = compare_each(EXAMPLES / DECLARATIONS[language])
    assert {symbol: said for symbol, said in found.items() if said} == {}
    assert {function.symbol for function in read_header().services.values()} <= found.keys()


@pytest.mark.parametrize("language", DECLARATIONS)
def test_on_host_memory(language: str, stub_path: Path, tmp_path: Path) -> None:
    done = run_tests(language, stub_path, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 passed" in done.stdout if language == "rust" else done.stdout.count("--- PASS: Test") == 6


@pytest.mark.parametrize("language", DECLARATIONS)
def test_on_device_memory(language: str, emulated_path: Path, device_memory: None, tmp_path: Path) -> None:
    done = run_tests(language, emulated_path, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_library_that_lacks_a_symbol_is_told_by_the_linker(stub_path: Path, tmp_path: Path) -> None:
    """The bindings' tests refer to it, so that no library without it passes them."""
    compiler = shutil.which("cc")
    if not compiler:
        pytest.skip("there is no cc on the path")
    (tmp_path / "empty.c").write_text("int nothing;\n", encoding="utf-8")
    library = tmp_path / "libempty.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, tmp_path / "empty.c"], check=True)
    done = run_tests("rust", library, tmp_path)
    assert done.returncode != 0
    assert "cuda_rmsnorm" in done.stdout + done.stderr
