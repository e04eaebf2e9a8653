#!/usr/bin/env python3

# /// script
# requires-python = ">=3.11"
# dependencies = ["nox==2026.10.20"]
# ///
"""The sessions people run: `nox -l` lists them, `nox -s NAME -- ARGUMENTS` runs one."""

from __future__ import annotations

import json
import os
import platform
import shlex
import shutil
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import nox
from nox.command import CommandFailed
from nox.project import dependency_groups, load_toml
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

PROJECT = load_toml("pyproject.toml")
OWN_SCRIPT = load_toml(__file__)  # the block at this file's head
MODULES = Path("examples/modules")
WILD = load_toml(str(MODULES / "libraries.toml"))  # what others wrote
FAILED = 1  # exit code: the candidate failed
CONSTRAINTS = "constraints.txt"  # the version of whatever a session installs
# pip would compile every module of what it unpacks, and that takes longer than all else it does; Python compiles those
# that are imported, and keeps them unless it is told not to.
WITHOUT_COMPILING = () if sys.dont_write_bytecode else ("--no-compile",)
# The cases of a sanitised library: every operation in several blocks and warps, whole tiles, what is left of one, and
# what is read before it is written.  Left out is what costs the race detector minutes, a thousand blocks, and what
# launches nothing.
CHOSEN = (
    "(plain or tails or accumulate or masked or beyond) and not designed and not 1030x5 and not 65538x2 and not empty"
)
# The cases of attention and products, whose work is split the more the more multiprocessors there are.
SPLIT = "(attention or gemm) and not designed and not full/"
HEAD = "# What sessions and CI install, by `nox -s constraints`.  The wheel itself declares ranges."
# Tests to as many processes as there are cores; what takes long is said, as it may be better marked slow.
SHARED_OUT = ("-n", "auto", "--dist", "worksteal", "--durations=40", "--durations-min=4")
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
    fetch(session, *runtime, *dependency_groups(PROJECT, *groups))


def fetch(session: nox.Session, *packages: str) -> None:
    """Install packages in the versions that are pinned; words for pip may stand among them."""
    words = (*WITHOUT_COMPILING, "--constraint", CONSTRAINTS, *packages)
    try:
        session.install(*words)
    except CommandFailed:  # pip asks again where an index does not answer, not where it answers with too little
        session.warn("that could not be installed; once more, as an index may be back")
        session.install(*words)


def install_mutator(session: nox.Session) -> None:
    """Install what makes mutants; its rules need none of its dependencies, one of which replaces a standard module."""
    fetch(session, "--no-deps", *dependency_groups(PROJECT, "mutants"))


def build_library(session: nox.Session, *words: str) -> str:
    """Build a library with the command `build` and return its path; a second call compiles only what changed."""
    said = session.run("python", "-m", "conformance", "build", *(words or ("stub",)), silent=True)
    return str(said).splitlines()[-1]


def devices(session: nox.Session) -> list[int]:
    """Return the compute capabilities of this machine's CUDA devices: 90 for sm_90."""
    found = str(session.run("python", "cuda/tools/devices.py", silent=True) or "")
    return [int(line.split()[0].removeprefix("sm_")) for line in found.splitlines()]


def is_asked(session: nox.Session, *options: str) -> bool:
    """Whether one of the options is among the session's arguments."""
    return any(word.split("=")[0] in options for word in session.posargs)


def own_builds(session: nox.Session) -> list[str]:
    """What the judge is told to judge where the session's arguments do not say: every build this machine can run."""
    if is_asked(session, "--library", "--module", "--step", "--cuda", "--outputs", "--on", "-h", "--help"):
        return []
    on = ["cuda"] if is_asked(session, "--arch") else ["stub", "emulated", *(["cuda"] if devices(session) else [])]
    return [word for name in on for word in ("--on", name)]


@nox.session
def conformance(session: nox.Session) -> None:
    """Judge the C build, the emulated kernels and, where a device is, the CUDA build; `-- --library PATH` another one.

    `-- --on stub` (emulated, cuda) judges one of them, `-- --arch sm_80` what was compiled for an older architecture,
    `-- --shard 2/3` the second third of the operations and steps on all of them.
    """
    install(session, "build")
    arguments = [*own_builds(session), *session.posargs]
    if {"cuda", "--on=cuda"} & {*arguments} and devices(session):
        nvcc(session)
    try:
        typed = {"ASSAYER_SESSION": "nox -s conformance --"}
        session.run("python", "-m", "conformance", "run", *arguments, env=typed)
        shard, words = split_off(session.posargs, "--shard")
        if not split_off(words, "--report", "--summary")[1]:  # and our graph on the reference and on the same builds
            session.run("python", "-m", "conformance", "graph", "--on", "reference", *own_builds(session))
            judge_split(session, shard)
    except CommandFailed as error:
        if error.return_code == FAILED:
            raise
        sys.exit(error.return_code)  # nox knows one code for whatever went wrong; the judge's others say what did


def split_off(words: list[str], *options: str) -> tuple[list[str], list[str]]:
    """Return the options that stand there, each with its value, and the other words."""
    found, rest, each = list[str](), list[str](), iter(words)
    for word in each:
        name, is_joined, _ = word.partition("=")
        if name not in options:
            rest.append(word)
        else:
            found += [word] if is_joined else [word, *islice(each, 1)]
    return found, rest


def judge_split(session: nox.Session, shard: list[str]) -> None:
    """Judge what is cut by the number of multiprocessors on an emulated device with one of them, and with an H100's."""
    words = ("--on", "emulated", "--schedule", "forward", "-k", SPLIT, *shard)
    for count in ("1", "132"):
        on = {"ASSAYER_EMULATOR_MULTIPROCESSORS": count}
        session.run("python", "-m", "conformance", "run", *words, env=on)


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests, shared out to all cores; `-- -n0` in one process."""
    install(session, "tests")
    install_mutator(session)
    session.run("pytest", *SHARED_OUT, *session.posargs, env={"ASSAYER_STUB": build_library(session)})


@nox.session
def oracle(session: nox.Session) -> None:
    """Check the reference against PyTorch in float64, judge ports in it, exchange arrays, run ONNX's node tests."""
    install(session, "tests", "oracle")
    session.run("python", "-c", "import torch; print('PyTorch', torch.__version__)")
    chosen = (
        "reference",
        "bindings/arrays/test_interchange.py",
        "examples",
        "conformance/onnx",
        "graph",
        "sequential",
        "tensors",
    )
    places = [f"tests/{place}" for place in chosen]
    session.run("pytest", *SHARED_OUT, *places, *session.posargs, env={"ASSAYER_STUB": build_library(session)})


@nox.session
def golden(session: nox.Session) -> None:
    """Regenerate the goldens; `-- --check` compares and prints drift, `-- --accept --reason "..."` takes a change."""
    install(session)
    session.run("python", "-m", "conformance", "golden", *session.posargs)


@nox.session
def readings(session: nox.Session) -> None:
    """Plant every wrong reading and count how many the cases find; `-- -k rope` plants those of some operations."""
    install(session)
    session.run("python", "-m", "conformance", "readings", *session.posargs)


@nox.session
def faults(session: nox.Session) -> None:
    """Build the C library and the kernels with one mistake after the other; see each found and named."""
    install(session)
    session.run("python", "-m", "conformance", "faults", *session.posargs)


@nox.session
def mutants(session: nox.Session) -> None:
    """Change the C library by rule and count what cases kill; `-- --kernels`, `-- --reference`, `-- --minutes 60`."""
    install(session, "tests")
    install_mutator(session)
    session.run("python", "-m", "conformance", "mutants", *session.posargs)


@nox.session
def held_out(session: nox.Session) -> None:
    """Plant faults that only a held-out tenth of the design finds, and count what the hunt finds; `-- --count 10`."""
    install(session, "build")
    session.run("python", "-m", "conformance", "held-out", "--library", build_library(session), *session.posargs)


def site_packages(session: nox.Session) -> Path:
    """Return where the session's packages lie."""
    question = ("python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
    return Path(str(session.run(*question, silent=True)).strip())


def working(session: nox.Session, compiler: str) -> str:
    """Return the path of nvcc of CUDA 13 or of clang++ where one works, else nothing."""
    found = session.run("python", "cuda/tools/compilers.py", compiler, silent=True)
    return str(found or "").strip()


def nvcc(session: nox.Session) -> str:
    """Return the compiler on the path where it is one of CUDA 13, or one from PyPI, laid out as CMake expects it."""
    if found := working(session, "nvcc"):
        return found
    fetch(session, *dependency_groups(PROJECT, "nvcc"))
    toolkit = site_packages(session) / "nvidia" / "cu13"
    if not (toolkit / "lib64").exists():
        (toolkit / "lib64").symlink_to("lib")
    return str(toolkit / "bin" / "nvcc")


def volta(session: nox.Session) -> list[str]:
    """Compile for sm_70, which CUDA 13 dropped, where there is a clang that can; return cubins and compiler."""
    clang = working(session, "clang++")
    if not clang:
        session.warn("sm_70 is not compiled: there is no clang++-19 or newer that works (CLANGXX names another)")
        return []
    fetch(session, *dependency_groups(PROJECT, "cuda12"))
    where = ["--site", str(site_packages(session)), "--to", "build/sm_70"]
    cubins = session.run("python", "cuda/tools/volta.py", "--clang", clang, *where, silent=True)
    return [*str(cubins).split(), "--clang", clang]


@nox.session
def kernels(session: nox.Session) -> None:
    """Compile every kernel for every architecture; compare its needs and its code with two tables (`-- --accept`).

    `-- --arch sm_80 --arch sm_120` compiles for those alone, and compares their columns.
    """
    install(session, "build", "kernels")
    few = [word for word in session.posargs if word.startswith("sm_")]
    by_nvcc = [f"{arch.removeprefix('sm_')}-real" for arch in few if arch != "sm_70"]
    if few and not by_nvcc:
        session.error("--arch sm_70: expected another beside it, which nvcc compiles for")
    some = ("--folder", "build/cuda-some", "-D", f"ASSAYER_ARCHITECTURES={';'.join(by_nvcc)}") if few else ()
    older = volta(session) if not few or "sm_70" in few else []
    tools = ["--nvcc", nvcc(session), "--cuobjdump"]
    tools += [str(site_packages(session) / "nvidia" / "cu13" / "bin" / "cuobjdump")]
    library = build_library(session, "cuda", *some, "-D", "ASSAYER_WERROR=ON")
    session.run("python", "cuda/tools/resources.py", library, *older, *tools, *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Time the reference, the C library and the judge; `-- --peers` adds PyTorch, `-- --short` shows that all runs.

    Any other argument is pytest's, and then only its benchmarks are run: `-- -k softmax`.  `-- --device` times the
    kernels on this machine's device instead; in the short form they run on the emulated one where there is none.
    """
    if "--device" in session.posargs:
        bench_device(session)
        return
    install(session, "tests", *(["oracle"] if "--peers" in session.posargs else []))
    library = ("--library", build_library(session))
    session.run("pytest", "benchmarks", "--benchmark-quiet", *library, *session.posargs)
    if not set(session.posargs) <= {"--peers", "--short"}:
        return
    short = ["--short"] if "--short" in session.posargs else []
    peers = ["--peers"] if "--peers" in session.posargs else []
    for benchmark in ("sixteen", "decoding"):
        session.run("python", "-m", f"benchmarks.{benchmark}", *library, *short, *peers)
    for benchmark in ("recompute", "tape", "judge"):
        session.run("python", "-m", f"benchmarks.{benchmark}", *library, *short)


def bench_device(session: nox.Session) -> None:
    """Time operations and training steps on a device.  The exit code is 3 where there is none and figures are asked."""
    install(session, "tests", *(["oracle"] if "--peers" in session.posargs else []))
    words = [word for word in session.posargs if word != "--device"]
    if found := devices(session):
        nvcc(session)
        library = build_for(session, max(found))
    elif "--short" in words:
        library = build_library(session, "emulated")
    else:
        session.warn("--device: expected a CUDA device, found none; with --short the emulated one shows that all runs")
        sys.exit(3)
    session.run("python", "-m", "benchmarks.device", "--library", library, *words)
    short = ["--short"] if "--short" in words else []
    session.run("python", "-m", "benchmarks.device.steps", "--library", library, *short)


def build_for(session: nox.Session, arch: int) -> str:
    """Build the kernels for one architecture, as 90, and return the library's path."""
    words = ("--folder", f"build/cuda-{arch}", "-D", f"ASSAYER_ARCHITECTURES={arch}-real")
    return build_library(session, "cuda", *words)


@nox.session
def language(session: nox.Session) -> None:
    """Train a small model on reference and C library: to a stated loss, on a course that honest runs take."""
    install(session, "build")
    built = ("--backend", "reference", "--backend", build_library(session))
    session.run("python", "-m", "conformance", "language", *built, *session.posargs)


@nox.session
def digits(session: nox.Session) -> None:
    """Train a CNN and an RNN on scikit-learn's digits, on reference and C library: accurate enough, soon enough."""
    install(session, "build", "digits")
    # Work on images of 8x8 pixels is too little to share out.
    alone = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    session.run("python", "-m", "benchmarks.digits", "--library", build_library(session), *session.posargs, env=alone)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site into build/site: pages, operations, commands; a warning or a link that leads nowhere fails."""
    install(session, "docs")
    session.run("python", "docs/site/build.py", "build/site", *session.posargs)


@nox.session
def tape(session: nox.Session) -> None:
    """Train a language model and a classifier of sentences through the tape, on reference and C library."""
    install(session, "build", "digits")
    alone = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # such small work is not to be shared out
    library = build_library(session)
    for module in ("courses", "sentences"):
        session.run("python", "-m", f"benchmarks.{module}", "--library", library, *session.posargs, env=alone)


@nox.session
def languages(session: nox.Session) -> None:
    """Build the ports in other languages whose compilers work, and judge them beside reference, stub and emulated.

    Where a compiler makes libraries for 32-bit x86, the port is called there, too: arguments travel by position.  The
    page it writes has one training step of each in a picture, tensor by tensor.
    """
    install(session, "build")
    session.run("python", "-m", "conformance", "languages", *session.posargs)


@nox.session
def kills(session: nox.Session) -> None:
    """Kill training runs on the C library at random, 100 times; resumed, each must write what one never killed does."""
    install(session, "tests")
    library = build_library(session)
    session.run("python", "tests/training/kill_training.py", "--library", library, *session.posargs)


@nox.session
def sanitize(session: nox.Session) -> None:
    """Run the C tests and the conformance on a build under the address and undefined-behaviour sanitisers, whose
    working memory ends where a call's does.

    `-- --shard 2/3` judges the cases of the second third of the operations; any other argument is pytest's.
    """
    install(session, "tests")
    shard, words = split_off(session.posargs, "--shard")
    # The library's own working memory outlives a call, so that the sanitisers know no end of it.
    scratch = ("-D", f"ASSAYER_SCRATCH={Path('conformance/proof/mutants/guarded_scratch.c').resolve()}")
    options = ("-D", "ASSAYER_SANITIZE=ON", "-D", "ASSAYER_WERROR=ON", *scratch)
    library = build_library(session, "stub", "--folder", "build/sanitize", *options)
    watched = ("python", PRELOAD, "address", "python", "-m")
    session.run(*watched, "pytest", *SHARED_OUT, "--capture=sys", "tests/c", *words, env={"ASSAYER_STUB": library})
    repeated = {"ASSAYER_SESSION": watched_judge(session, "address")}
    chosen = ("-k", "not full/")  # which take many minutes here
    session.run(*watched, "conformance", "run", "--library", library, *chosen, *shard, env=repeated)


def watched_judge(session: nox.Session, mode: str) -> str:
    """What judges under a sanitiser outside of a session, for the commands that reports print."""
    python = os.path.relpath(Path(session.bin) / "python")
    return shlex.join([python, PRELOAD, mode, python, "-m", "conformance", "run"])


def judge_watched(session: nox.Session, mode: str, *tools: str) -> None:
    """Judge the kernels on an emulator with sanitisers, and on a device, where one is, under compute-sanitizer's tools.

    By CHOSEN cases, unless the session's arguments choose.
    """
    install(session, "build")
    chosen = [] if is_asked(session, "-k", "--case") else ["-k", CHOSEN]
    judge = ["python", "-m", "conformance", "run", *chosen, *session.posargs]
    folder = f"build/emulated-{mode}"
    library = build_library(session, "emulated", "--folder", folder, "-D", f"ASSAYER_EMULATOR_MODE={mode}")
    # Two processes: the race detector takes 3 GB for each.
    emulated = [*judge, "--library", library, "--limit", "120", "-n", "2"]
    variables = {"OPENBLAS_NUM_THREADS": "1", "ASSAYER_SESSION": watched_judge(session, mode)}
    session.run("python", PRELOAD, mode, *emulated, env=variables)
    found = devices(session)
    if not (found and shutil.which("compute-sanitizer")):
        session.warn(f"{', '.join(tools)}: not run: {'no compute-sanitizer on the path' if found else 'no device'}")
        return
    nvcc(session)
    path = build_for(session, max(found))
    for tool in tools:
        watched = ["compute-sanitizer", "--tool", tool, "--target-processes", "all", "--error-exitcode", "66"]
        session.run(*watched, *judge, "--library", path, "--limit", "600", "-n", "1", external=True)


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
    install(session, "build")
    builds = [
        build_library(session),
        build_library(session, "stub", "--folder", "build/native", "-D", "CMAKE_C_FLAGS=-march=native"),
        build_library(session, "stub", "--folder", "build/debug", "-D", "CMAKE_BUILD_TYPE=RelWithDebInfo"),  # -O2
    ]
    libraries = [argument for path in builds for argument in ("--library", path)]
    session.run("python", "-m", "conformance", "false-alarms", *libraries, *session.posargs)


def fetch_library(session: nox.Session, library: dict[str, Any]) -> str:
    """Install one of the libraries that others wrote; return its version.  One that cannot be had ends the session."""
    alone = dependency_groups(PROJECT, library["alone"]) if "alone" in library else []
    packages = dependency_groups(PROJECT, library["group"]) if "group" in library else []
    if "needs" in library and not any(map(shutil.which, library["needs"])):
        session.error(f"{library['name']}: not judged: none of {', '.join(library['needs'])} is on the path")
    try:
        install(session)
        if packages:
            fetch(session, *packages)
        if alone:
            fetch(session, "--no-deps", *alone)
        if "npm" in library:
            place = ("--prefix", str(Path(session.virtualenv.location).resolve()))
            session.run(
                "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", *place, library["npm"], external=True
            )
    except CommandFailed:
        session.error(f"{library['name']}: not installed, for the reason above; nothing of it was judged")
    pins = dict(each.split("==") for each in [*packages, *alone])
    return str(
        library["npm"].rpartition("@")[2] if "npm" in library else pins[library.get("versioned", next(iter(pins)))]
    )


@nox.session
@nox.parametrize("library", list(WILD), ids=list(WILD))
def wild(session: nox.Session, library: str) -> None:
    """Judge what others wrote, each in an environment of its own: how much of the limits it uses; docs/wild.md.

    `nox -s "wild(jax)"` judges one of them.  It fails where one differs from the header in more than
    examples/modules/differences.toml says.  `-- --accept` keeps its rows in docs/wild.tsv, `-- --seeds 3` draws every
    case three times, `-- -k designed` takes other cases than those of every kind of data.
    """
    judged = WILD[library]
    version = fetch_library(session, judged)
    words = ["--module", f"{judged['name']} {version}={MODULES / judged['module']}"]
    words += ["--contract", judged["contract"]] if "contract" in judged else []
    words += [] if is_asked(session, "--seed") else ["--seed", "0"]
    words += [] if is_asked(session, "-k") else ["-k", judged.get("cases", "not designed and not full/")]
    words += ["--limit", str(judged["limit"])] if "limit" in judged else []
    asked = [word for word in session.posargs if word != "--accept"]
    words += ["--table", "docs/wild.tsv"] if len(asked) < len(session.posargs) else []
    words += ["--known", str(MODULES / "differences.toml")]
    env = judged.get("variables", {})
    session.run("python", "-m", "conformance", "false-alarms", *words, *asked, env=env)


@nox.session
def package(session: nox.Session) -> None:
    """Build the wheel, install it in an environment of its own, and use its command in an empty folder."""
    fetch(session, *PROJECT["build-system"]["requires"])
    folder = Path(session.create_tmp()).resolve()
    session.run("pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), ".")
    session.run("python", "tests/use_wheel.py", str(folder), "--constraint", CONSTRAINTS)


@nox.session
def constraints(session: nox.Session) -> None:
    """Resolve everything that sessions install anew, and write it to constraints.txt."""
    wanted = [*PROJECT["project"]["dependencies"], *PROJECT["build-system"]["requires"], *OWN_SCRIPT["dependencies"]]
    alone = dependency_groups(PROJECT, "mutants", "liger")
    wanted += [each for each in dependency_groups(PROJECT, *PROJECT["dependency-groups"]) if each not in alone]
    report = Path(session.create_tmp()) / "resolved.json"
    how = ("--dry-run", "--ignore-installed", "--quiet", "--report", str(report))
    session.run("python", "-m", "pip", "install", *how, *dict.fromkeys(wanted))
    found = [item["metadata"] for item in json.loads(report.read_text(encoding="utf-8"))["install"]]
    lines = [f"{canonicalize_name(each['name'])}=={each['version'].partition('+')[0]}" for each in found]
    Path(CONSTRAINTS).write_text("\n".join([HEAD, *sorted({*alone, *lines}), ""]), encoding="utf-8")


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
