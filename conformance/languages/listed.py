"""Which ports there are, and what each is built by."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Trial:
    """A program of a few words that a working toolchain makes and runs; {file} is its source."""

    source: str
    suffix: str
    command: tuple[str, ...]


@dataclass(frozen=True)
class Port:
    """One port; in its commands {out} is the folder where it is built, {modules} what npm has fetched for it.

    library: what exports the header's names; none where a language has no C ABI.  program: what does steps on files.
    answers: what writes the results of goldens, before their folder and the results'; operations: of which.
    """

    name: str
    folder: str
    tools: tuple[str, ...]
    trial: Trial
    build: tuple[tuple[str, ...], ...]
    library: str = ""
    program: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()


_RUST = Trial("fn main() {}\n", ".rs", ("rustc", "-o", "{file}.out", "{file}"))
_GO = Trial('package main\n\nimport "C"\n\nfunc main() {}\n', ".go", ("go", "run", "{file}"))
_NODE = Trial(
    "if (parseInt(process.versions.node) < 20) {\n"
    '  console.error("expected Node 20, got " + process.version);\n  process.exit(1);\n}\n',
    ".mjs",
    ("node", "{file}"),
)
_FORTRAN = Trial("end\n", ".f90", ("gfortran", "-o", "{file}.out", "{file}"))
_ANSWERED = (
    "add", "scale", "swiglu", "swiglu_backward", "softmax", "softmax_backward", "rmsnorm", "rmsnorm_backward", "gemm",
    "embedding", "cross_entropy_forward", "cross_entropy_backward", "sample",
)  # fmt: skip

PORTS = (
    Port(
        "rust",
        "rust/port",
        ("cargo", "rustc"),
        _RUST,
        (("cargo", "build", "--release", "--offline", "--locked", "--target-dir", "{out}/cargo"),),
        "{out}/cargo/release/libport.so",
        ("{out}/cargo/release/port",),
        ("{out}/cargo/release/port", "answers"),
        _ANSWERED,
    ),
    Port(
        "go",
        "go/port",
        ("go",),
        _GO,
        (
            ("go", "build", "-buildmode=c-shared", "-trimpath", "-o", "{out}/libport.so", "./export"),
            ("go", "build", "-trimpath", "-o", "{out}/port", "./cmd"),
        ),
        "{out}/libport.so",
        ("{out}/port",),
        ("{out}/port", "answers"),
        _ANSWERED,
    ),
    Port(
        "fortran",
        "fortran",
        ("gfortran",),
        _FORTRAN,
        (("gfortran", "-O2", "-shared", "-fPIC", "-Wall", "-J", "{out}", "-o", "{out}/libport.so", "rmsnorm.f90"),),
        "{out}/libport.so",
    ),
    Port(
        "typescript",
        "typescript",
        ("node", "npm"),
        _NODE,
        (("node", "{modules}/typescript/bin/tsc", "--project", ".", "--outDir", "{out}/compiled"),),
        answers=("node", "{out}/compiled/main.js", "answers"),
        operations=(
            "silu", "silu_backward", "swiglu", "swiglu_backward", "scale", "softmax", "softmax_backward", "rmsnorm",
            "rmsnorm_backward", "gemm", "embedding", "cross_entropy_forward", "cross_entropy_backward", "adamw_step",
            "sample",
        ),
    ),
)  # fmt: skip
