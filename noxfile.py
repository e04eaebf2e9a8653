#!/usr/bin/env python3

# /// script
# requires-python = ">=3.11"
# dependencies = ["nox==2026.10.20"]
# ///
"""The sessions people run: `nox -l` lists them, `nox -s NAME -- ARGUMENTS` runs one."""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import nox
from nox.command import CommandFailed
from nox.project import dependency_groups, load_toml
from packaging.specifiers import SpecifierSet

PROJECT = load_toml("pyproject.toml")
GENERATIONS = (75, 80, 86, 89, 90, 100, 120)  # architectures that nvcc 13 compiles for
SCHEDULES = ("forward", "reverse", "random")
FAILED, NO_DEVICE = 1, 3  # exit codes: the candidate failed; a device was asked for and there is none
# The cases of a sanitised library: every operation in several blocks and warps, whole tiles, what is left of one, and
# what is read before it is written.  Left out is what costs the race detector minutes: a thousand blocks.
CHOSEN = "(plain or tails or accumulate or masked or beyond) and not 1030x5"
BUILD = "cuda/tools/cmake_build.py"  # configures and builds with CMake
PRELOAD = "cuda/emulator/preload.py"  # runs a command with a sanitiser's libraries

nox.needs_version = ">=2026.10.20"
nox.options.sessions = ["conformance", "tests", "lint", "types"]
nox.options.default_venv_backend = "virtualenv"
nox.options.reuse_venv = "yes"


def install(session: nox.Session, *groups: str, project: bool = True) -> None:
    """Install the named dependency groups, and what the project itself needs at run time."""
    supported = PROJECT["project"]["requires-python"]
    if not SpecifierSet(supported).contains(platform.python_version()):
        session.error(f"Assayer needs Python {supported}; this is {platform.python_version()}")
    runtime = PROJECT["project"]["dependencies"] if project else []
    session.install(*runtime, *dependency_groups(PROJECT, *groups))


def build_library(
    session: nox.Session,
    folder: str = "build/stub",
    target: str = "assayer_stub",
    environment: Mapping[str, str] | None = None,
    **options: str,
) -> Path:
    """Build a library, the C one, in the folder (a second call compiles only what changed) and return its path."""
    defines = [f"-D{name}={value}" for name, value in options.items()]
    session.run("python", BUILD, folder, target, *defines, silent=True, env=environment)
    built = [path for path in Path(folder).glob(f"*{target}.*") if path.suffix in {".so", ".dylib", ".dll"}]
    if len(built) != 1:
        session.error(f"expected one {target} library in {folder}, found {len(built)}")
    return built[0]


def devices(session: nox.Session) -> list[int]:
    """Return the compute capabilities of this machine's CUDA devices: 90 for sm_90."""
    found = str(session.run("python", "cuda/tools/devices.py", silent=True) or "")
    return [int(line.split()[0].removeprefix("sm_")) for line in found.splitlines()]


def device_builds(session: nox.Session, asked: Sequence[str]) -> Iterator[tuple[str, Path]]:
    """Build the kernels for the device, and as PTX for each older architecture, or only those that are asked for.

    Without a device, or with one too old, what was asked for cannot be judged: that ends the session with code 3.
    """
    found = max(devices(session), default=0)
    known = {f"sm_{arch}": arch for arch in (*GENERATIONS, found) if arch}
    newest = max((known.get(arch, 0) for arch in asked), default=0)
    if not found or newest > found:
        wanted, there = f" of sm_{newest} or newer" if newest else "", f"one of sm_{found}" if found else "none"
        session.log(f"expected a CUDA device{wanted}, found {there}")
        sys.exit(NO_DEVICE)
    if unknown := next((arch for arch in asked if arch not in known), None):
        session.error(f"--arch {unknown}: expected one of {', '.join(known)} (CUDA 13 compiles for nothing older)")
    archs = [known[arch] for arch in asked] or [*(arch for arch in GENERATIONS if arch < found), found]
    compiler = {"CUDACXX": nvcc(session)}
    for arch in sorted(archs, reverse=True):
        code = f"{arch}-real" if arch == found else f"{arch}-virtual"
        folder, options = f"build/cuda-{arch}", {"ASSAYER_ARCHITECTURES": code}
        path = build_library(session, folder, "assayer_cuda", environment=compiler, **options)
        yield f"cuda sm_{arch}" if arch == found else f"cuda sm_{arch} PTX", path


def candidates(session: nox.Session, on: Sequence[str], archs: Sequence[str]) -> Iterator[str]:
    """Build what is to be judged, and yield how the judge is told of it."""
    chosen = on or (["cuda"] if archs else ["stub", "emulated", *(["cuda"] if devices(session) else [])])
    if archs and set(chosen) == {"stub"}:
        session.error("--arch is of emulated and cuda; the C library has none")
    if "stub" in chosen:
        yield from ("--library", f"stub={build_library(session)}")
    if "emulated" in chosen:
        yield from ("--library", f"emulated={build_library(session, 'build/emulated', 'assayer_emulated')}")
        yield from (word for order in SCHEDULES for word in ("--schedule", order))
        yield from (word for arch in archs for word in ("--arch", arch))
    if "cuda" in chosen:
        yield from (word for name, path in device_builds(session, archs) for word in ("--library", f"{name}={path}"))


@nox.session
def conformance(session: nox.Session) -> None:
    """Judge the C build, the emulated kernels and, where a device is, the CUDA build; `-- --library PATH` another one.

    `-- --on stub` (emulated, cuda) judges one of them, `-- --arch sm_80` what was compiled for an older architecture.
    """
    install(session, "judge", "build")
    parser = argparse.ArgumentParser(allow_abbrev=False, add_help=False)
    parser.add_argument("--on", action="append", choices=("stub", "emulated", "cuda"))
    parser.add_argument("--arch", action="append")
    options, rest = parser.parse_known_args(session.posargs)
    if any(word.split("=")[0] in {"--library", "--outputs"} for word in rest):
        if options.on:
            session.error(
                f"--on {options.on[0]} chooses among this project's own builds, --library and --outputs another"
            )
        judged = [word for arch in options.arch or () for word in ("--arch", arch)]
    else:
        judged = list(candidates(session, options.on or (), options.arch or ()))
    try:
        session.run("python", "-m", "conformance", "run", *judged, *rest)
    except CommandFailed as error:
        if error.return_code == FAILED:
            raise
        sys.exit(error.return_code)  # nox knows one code for whatever went wrong; the judge's others say what did


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests."""
    install(session, "tests")
    library = build_library(session)
    session.run("pytest", *session.posargs, env={"ASSAYER_STUB": str(library.resolve())})


@nox.session
def oracle(session: nox.Session) -> None:
    """Check the reference against PyTorch in float64, and hand its tensors to the bindings and back."""
    install(session, "tests", "oracle")
    session.run("python", "-c", "import torch; print('PyTorch', torch.__version__)")
    session.run("pytest", "tests/reference", "tests/bindings/arrays/test_interchange.py", *session.posargs)


@nox.session
def golden(session: nox.Session) -> None:
    """Regenerate the goldens; `-- --check` compares and prints drift, `-- --accept --reason "..."` takes a change."""
    install(session, "judge")
    session.run("python", "-m", "conformance", "golden", *session.posargs)


@nox.session
def readings(session: nox.Session) -> None:
    """Plant every wrong reading and count how many the cases find; `-- -k rope` plants those of some operations."""
    install(session, "judge")
    session.run("python", "-m", "conformance", "readings", *session.posargs)


@nox.session
def faults(session: nox.Session) -> None:
    """Build the C library and the kernels with one mistake after the other; see each found and named."""
    install(session, "judge")
    session.run("python", "-m", "conformance", "faults", *session.posargs)


def site_packages(session: nox.Session) -> Path:
    """Return where the session's packages lie."""
    question = ("python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
    return Path(str(session.run(*question, silent=True)).strip())


def nvcc(session: nox.Session) -> str:
    """Return the compiler on the path where it is one of CUDA 13, or one from PyPI, laid out as CMake expects it."""
    found = os.environ.get("CUDACXX") or shutil.which("nvcc")
    if found and "release 13." in str(session.run(found, "--version", silent=True, external=True)):
        return found
    session.install(*dependency_groups(PROJECT, "nvcc"))
    toolkit = site_packages(session) / "nvidia" / "cu13"
    if not (toolkit / "lib64").exists():
        (toolkit / "lib64").symlink_to("lib")
    return str(toolkit / "bin" / "nvcc")


def volta(session: nox.Session) -> list[str]:
    """Compile for sm_70, which CUDA 13 dropped, where there is a clang that can; return cubins and compiler."""
    names = ("clang++-19", "clang++-20", "clang++-21")
    clang = os.environ.get("CLANGXX") or next(filter(shutil.which, names), None)
    if not clang:
        session.warn("sm_70 is not compiled: there is no clang++-19 or newer (CLANGXX names another)")
        return []
    session.install(*dependency_groups(PROJECT, "cuda12"))
    where = ["--site", str(site_packages(session)), "--to", "build/sm_70"]
    cubins = session.run("python", "cuda/tools/volta.py", "--clang", clang, *where, silent=True)
    return [*str(cubins).split(), "--clang", clang]


@nox.session
def kernels(session: nox.Session) -> None:
    """Compile every kernel for every architecture; compare what each needs with cuda/resources.tsv (`-- --accept`)."""
    install(session, "build", "kernels", project=False)
    environment = {"CUDACXX": nvcc(session)}
    session.run("python", BUILD, "build/cuda", "assayer_cuda", "-DASSAYER_WERROR=ON", env=environment)
    tools = ["--nvcc", environment["CUDACXX"], "--cuobjdump"]
    tools += [str(site_packages(session) / "nvidia" / "cu13" / "bin" / "cuobjdump")]
    library = "build/cuda/libassayer_cuda.so"
    session.run("python", "cuda/tools/resources.py", library, *volta(session), *tools, *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Time the reference, the C library and the judge; `-- --peers` adds PyTorch, `-- --short` shows that all runs.

    Any other argument is pytest's, and then only its benchmarks are run: `-- -k softmax`.
    """
    install(session, "tests", *(["oracle"] if "--peers" in session.posargs else []))
    library = ("--library", str(build_library(session)))
    session.run("pytest", "benchmarks", "--benchmark-quiet", *library, *session.posargs)
    if not set(session.posargs) <= {"--peers", "--short"}:
        return
    short = ["--short"] if "--short" in session.posargs else []
    for benchmark in ("sixteen", "recompute", "judge"):
        session.run("python", "-m", f"benchmarks.{benchmark}", *library, *short)


@nox.session
def language(session: nox.Session) -> None:
    """Train a small model on reference and C library: to a stated loss, on a course that honest runs take."""
    install(session, "judge", "build")
    built = ("--backend", "reference", "--backend", str(build_library(session)))
    session.run("python", "-m", "conformance", "language", *built, *session.posargs)


@nox.session
def kills(session: nox.Session) -> None:
    """Kill training runs on the C library at random, 100 times; resumed, each must write what one never killed does."""
    install(session, "tests")
    library = str(build_library(session))
    session.run("python", "tests/training/kill_training.py", "--library", library, *session.posargs)


@nox.session
def sanitize(session: nox.Session) -> None:
    """Run the C tests and the conformance on a build under the address and undefined-behaviour sanitisers."""
    install(session, "tests")
    library = build_library(session, "build/sanitize", ASSAYER_SANITIZE="ON", ASSAYER_WERROR="ON")
    watched = ("python", PRELOAD, "address", "python", "-m")
    built = {"ASSAYER_STUB": str(library.resolve())}
    session.run(*watched, "pytest", "--capture=sys", "tests/c", *session.posargs, env=built)
    session.run(*watched, "conformance", "run", "--library", str(library))


def judge_watched(session: nox.Session, mode: str, *tools: str) -> None:
    """Judge the kernels on an emulator with sanitisers, and on a device, where one is, under compute-sanitizer's tools.

    By CHOSEN cases, unless the session's arguments choose.
    """
    install(session, "judge", "build")
    chosen = any(word.split("=")[0] in {"-k", "--case"} for word in session.posargs)
    judge = ["python", "-m", "conformance", "run", *([] if chosen else ["-k", CHOSEN]), *session.posargs]
    library = build_library(session, f"build/emulated-{mode}", "assayer_emulated", ASSAYER_EMULATOR_MODE=mode)
    # Two processes: the race detector takes 3 GB for each.
    emulated = [*judge, "--library", str(library), "--limit", "120", "-n", "2"]
    session.run("python", PRELOAD, mode, *emulated, env={"OPENBLAS_NUM_THREADS": "1"})
    found = devices(session)
    if not (found and shutil.which("compute-sanitizer")):
        session.warn(f"{', '.join(tools)}: not run: {'no compute-sanitizer on the path' if found else 'no device'}")
        return
    [(_, path)] = device_builds(session, [f"sm_{max(found)}"])
    for tool in tools:
        watched = ["compute-sanitizer", "--tool", tool, "--target-processes", "all", "--error-exitcode", "66"]
        session.run(*watched, *judge, "--library", str(path), "--limit", "600", "-n", "1", external=True)


@nox.session
def memcheck(session: nox.Session) -> None:
    """Judge the kernels under the address and undefined-behaviour sanitisers; `-- -k WORDS` chooses cases."""
    judge_watched(session, "address", "memcheck", "initcheck")


@nox.session
def races(session: nox.Session) -> None:
    """Judge the kernels under the race detector; `-- -k WORDS` chooses cases."""
    judge_watched(session, "thread", "racecheck", "synccheck")


@nox.session
def false_alarms(session: nox.Session) -> None:
    """Judge correct implementations, three builds of the C library among them, 20,000 times with fresh seeds."""
    install(session, "judge", "build")
    builds = [
        build_library(session),
        build_library(session, "build/native", CMAKE_C_FLAGS="-march=native"),
        build_library(session, "build/debug", CMAKE_BUILD_TYPE="RelWithDebInfo"),  # -O2
    ]
    libraries = [argument for path in builds for argument in ("--library", str(path))]
    session.run("python", "-m", "conformance", "false-alarms", *libraries, *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and formatting; `-- --fix` repairs what can be repaired."""
    install(session, "lint", project=False)
    fix = session.posargs == ["--fix"]
    session.run("ruff", "check", *(["--fix"] if fix else []))
    session.run("ruff", "format", *([] if fix else ["--check"]))
    sources = map(str, sorted(Path("cuda/kernels").glob("*.cu*")))
    session.run("clang-format", *(["-i"] if fix else ["--dry-run", "-Werror"]), *sources)
    workflows = map(str, Path(".github/workflows").glob("*.yml"))
    session.run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows)


@nox.session
def types(session: nox.Session) -> None:
    """Check the types, strictly."""
    install(session, "types")
    session.run("mypy", *session.posargs)


if __name__ == "__main__":
    nox.main()
