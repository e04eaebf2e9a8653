"""Somebody's own CUDA sources in `run`: compiled when their round begins, and what is not asked of them."""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console

from bindings.places import module
from conformance.builds import BuildError, DeviceError, devices, nvcc
from conformance.candidates.candidate import SCHEDULES, Candidate, CandidateError
from conformance.commands.selection import Selection
from conformance.frameworks import compile_sources, is_of_framework
from conformance.ids import is_of_refusals, operation_of
from conformance.kernels import MODES, Compiled, Project, compile_kernels
from conformance.paths import CUDA
from conformance.program import SESSION, run_command, watched_by
from conformance.report.record import counted

from .modules import Makeable

_PRELOAD = CUDA / "emulator" / "preload.py"
_WATCHED = ("address", "thread")  # modes whose sanitiser has to be in the process from its start
_SLOW_S, _SLOW_N = 120.0, 2  # of a watched run: seconds that a call is given at least, processes at most (3 GB each)


def add_kernels(candidate: Any, parser: argparse.ArgumentParser) -> None:
    """Add --cuda to a group of candidates, and to the command what goes with it."""
    what = "or CUDA sources, compiled for the emulated GPU, and for a real one where it is (docs/emulator.md)"
    candidate.add_argument("--cuda", type=Path, nargs="+", metavar="FILE.cu", help=what)
    group = parser.add_argument_group("CUDA sources")
    chart = "which of their functions computes which operation, where names or arguments differ (TOML)"
    group.add_argument("--map", type=Path, metavar="FILE", help=chart)
    modes = "; ".join(f"{mode}: {how}" for mode, how in MODES.items())
    group.add_argument("--mode", choices=MODES, help=f"{modes} (default: fast, and device where there is one)")


def check_kernels(options: argparse.Namespace) -> None:
    """Raise CandidateError for options of CUDA sources without any; a framework's library has a map, too."""
    if options.map and not (options.cuda or options.library):
        raise CandidateError("--map is of CUDA sources or a framework; expected --cuda FILE.cu or --library")
    if options.mode and not options.cuda:
        raise CandidateError("--mode is of CUDA sources; expected --cuda FILE.cu beside it")


def judged_elsewhere(options: argparse.Namespace) -> int | None:
    """Judge sources whose sanitiser this process has not loaded in one that has; return its exit code.

    None where this process is the one to judge.  What does not compile is said first: raises BuildError and MapError.
    """
    check_kernels(options)
    if options.mode not in _WATCHED or watched_by() == options.mode:
        return None
    _check_sanitiser(options.mode)
    _compiled(Console(stderr=True), options, options.mode)
    judge = [sys.executable, "-P", "-m", module("conformance"), *options.words]
    variables = {SESSION: run_command(), "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run([sys.executable, str(_PRELOAD), options.mode, *judge], env=os.environ | variables).returncode


def _check_sanitiser(mode: str) -> None:
    """Raise BuildError where the compiler has no library of it."""
    spec = importlib.util.spec_from_file_location("preload", _PRELOAD)
    assert spec is not None
    assert spec.loader is not None
    preload = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(preload)
    compiler = os.environ.get("CXX") or "c++"
    if not preload.libraries(compiler, mode):
        raise BuildError(f"--mode {mode}: expected a compiler with that sanitiser, got {compiler}; CXX names another")


def kernel_rounds(console: Console, options: argparse.Namespace) -> Iterator[argparse.Namespace]:
    """Yield the options of each round of judging, as if --library had named what the sources become.

    On the emulator they are run in every order of threads unless --schedule chooses.  Raises BuildError, MapError and
    DeviceError.
    """
    for mode in [options.mode] if options.mode else _modes(console):
        compiled = _compiled(console, options, mode)
        asked = {"library": [(compiled.project.name, compiled.path)], "compiled": compiled}
        if mode == "fast":
            asked["schedule"] = options.schedule or list(SCHEDULES)
        elif mode == "device":
            asked |= {"schedule": [], "arch": []}
        else:
            asked |= {"limit": max(options.limit, _SLOW_S), "n": min(options.n, _SLOW_N)}
        yield argparse.Namespace(**vars(options) | asked)


def _modes(console: Console) -> Iterator[str]:
    """The emulator, and a device where there is one and something to compile with."""
    yield "fast"
    if not devices():
        return
    try:
        nvcc()
    except BuildError as error:
        console.print(f"not judged on this machine's GPU: {error}", markup=False, highlight=False)
        return
    yield "device"


def _compiled(console: Console, options: argparse.Namespace, mode: str) -> Compiled:
    arch = max(devices(), default=0) if mode == "device" else 0
    if mode == "device" and not arch:
        raise DeviceError("--mode device: expected a CUDA device, found none")
    project = Project(tuple(options.cuda), options.map, mode, arch)
    if not options.quiet and not watched_by():  # else it was said by the process that started this one
        console.print(f"compiling {project.name}", markup=False, highlight=False)
    return compile_sources(project) if options.map and is_of_framework(options.map) else compile_kernels(project)


def unasked(selection: Selection, candidate: Candidate) -> Makeable:
    """Take out calls that have to be refused, of operations that a map names: whose function it is has its own way."""
    compiled = candidate.compiled
    mapped = {*compiled.mapped} if compiled else set()
    said = [*compiled.chart.sentences(selection.operations)] if compiled and compiled.chart else []
    gone = {id for id in selection.cases if operation_of(id) in mapped and is_of_refusals(id)}
    if not gone:
        return Makeable(selection, said)
    calls, theirs = counted(len(gone), "call"), counted(len({operation_of(id) for id in gone}), "operation")
    note = f"not run: {calls} to be refused, of {theirs} that the map names: those functions are declared otherwise"
    return Makeable(selection.without_cases(gone), [*said, note])
