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
class Positional:
    """A port's library for 32-bit x86, where arguments travel by position.  trial: whether its compiler makes such."""

    trial: Trial
    build: tuple[str, ...]
    library: str = "{out}/libport32.so"


@dataclass(frozen=True)
class Port:
    """One port; in its commands {out} is the folder where it is built, {modules} what npm has fetched for it.

    library: what exports the header's names; none where a language has no C ABI.  program: what does steps on files.
    answers: what writes the results of goldens, before their folder and the results'; operations: of which.
    positional: how its library is called by position.
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
    positional: Positional | None = None


_RUST = Trial("fn main() {}\n", ".rs", ("rustc", "-o", "{file}.out", "{file}"))
_GO = Trial('package main\n\nimport "C"\n\nfunc main() {}\n', ".go", ("go", "run", "{file}"))
# Floats of SSE, as on other machines; the kernel's headers lie where a compiler of 64 bits looks for them.
_GO32 = (
    "env", "GOARCH=386", "GO386=sse2", "CGO_ENABLED=1", "CGO_CFLAGS=-O2 -idirafter /usr/include/x86_64-linux-gnu",
    "go", "build", "-buildmode=c-shared", "-trimpath", "-o",
)  # fmt: skip
_RUST32 = "i686-unknown-linux-gnu"
_FORTRAN32 = ("gfortran", "-m32", "-msse2", "-mfpmath=sse", "-O2", "-shared", "-fPIC")
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
        Positional(
            Trial("", ".rs", ("rustc", "--target", _RUST32, "--crate-type", "cdylib", "-o", "{file}.so", "{file}")),
            (
                "cargo", "build", "--release", "--offline", "--locked", "--lib", "--target", _RUST32,
                "--target-dir", "{out}/cargo",
            ),
            f"{{out}}/cargo/{_RUST32}/release/libport.so",
        ),
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
        Positional(
            Trial(_GO.source, ".go", (*_GO32, "{file}.so", "{file}")), (*_GO32, "{out}/libport32.so", "./export")
        ),
    ),
    Port(
        "fortran",
        "fortran",
        ("gfortran",),
        _FORTRAN,
        (("gfortran", "-O2", "-shared", "-fPIC", "-Wall", "-J", "{out}", "-o", "{out}/libport.so", "rmsnorm.f90"),),
        "{out}/libport.so",
        positional=Positional(
            Trial(_FORTRAN.source, ".f90", (*_FORTRAN32, "-o", "{file}.so", "{file}")),
            (*_FORTRAN32, "-J", "{out}", "-o", "{out}/libport32.so", "rmsnorm.f90"),
        ),
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
