"""The memory that training steps of a library really take: the resident memory of processes of their own."""

from __future__ import annotations

import multiprocessing
import os
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bindings import Library
from reference.model.config import TINY, Config
from reference.model.parameters import Parameters, held_shapes
from reference.step import TrainingConfig
from training.resident.step import ResidentStep
from training.step import Step

from .heap import keep_freed_memory, return_freed_memory
from .predict import Setting, predict

STEPS = 2  # behind the first all is where it stays
_STATUS = Path("/proc/self/status")


Figure = Callable[[Setting, Path], int]


def measure(setting: Setting, library: Path) -> dict[str, int]:
    """Bytes at the worst moment of some steps, beyond what the process held before, by what they are of.

    Raises ValueError for several devices and for a model that does not fit the machine, OSError where the system tells
    no figures.
    """
    if setting.devices > 1:
        raise ValueError(f"--check: expected one device, since one process is measured, got {setting.devices}")
    needed, there = predict(setting).peak, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if needed > there:
        raise ValueError(f"--check: expected a step that fits this machine's {there:,} bytes, got one of {needed:,}")
    figures = ON_DEVICE if _fresh(_is_on_device, setting, library) else ON_HOST
    return {name: _fresh(function, setting, library) for name, function in figures.items()}


def _fresh(function: Figure, setting: Setting, library: Path) -> int:
    """One figure from a process that has done nothing else."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as executor:
        return executor.submit(function, setting, library).result()


def _is_on_device(_: Setting, library: Path) -> int:
    return Library(library).facts.on_device


def _in_use(setting: Setting, library: Path) -> int:
    return int(_statistics(setting, library).peak)


def _reserved(setting: Setting, library: Path) -> int:
    return int(_statistics(setting, library).reserved)


def _statistics(setting: Setting, library: Path) -> Any:
    ops = Library(library, resident=True)
    training = TrainingConfig(micro_batches=setting.micro_batches)
    step = ResidentStep(ops, setting.config, training, precision=setting.precision, recompute=setting.recompute)
    _steps(setting, step)
    return ops.memory.statistics


def _arrays(setting: Setting, library: Path) -> int:
    ops = _warm(library)
    tracemalloc.start()
    _steps(setting, setting.step(ops))
    return tracemalloc.get_traced_memory()[1]


def _returned(setting: Setting, library: Path) -> int:
    return_freed_memory()
    return _resident(setting, library)


def _kept(setting: Setting, library: Path) -> int:
    keep_freed_memory()
    return _resident(setting, library)


def _resident(setting: Setting, library: Path) -> int:
    ops = _warm(library)
    before = _pages("VmRSS")
    _steps(setting, setting.step(ops))
    return _pages("VmHWM") - before


def _pages(name: str) -> int:
    """One figure of proc_pid_status(5), in bytes."""
    (line,) = (line for line in _STATUS.read_text(encoding="ascii").splitlines() if line.startswith(f"{name}:"))
    return 1024 * int(line.split()[1])


def _warm(library: Path) -> Library:
    """Return the library after a step of a small model, which touches code and threads' stacks."""
    ops = Library(library)
    small = Setting(config=replace(TINY, hidden=8, layers=1, ffn=8, vocab=8), batch=1, seq=2)
    _steps(small, small.step(ops))
    return ops


def _steps(setting: Setting, step: Step) -> None:
    drawn = np.random.default_rng(0)
    standing = step.start(_parameters(setting.config, drawn))
    shape = (setting.batch // setting.devices, setting.seq)
    tokens, targets = (drawn.integers(0, setting.config.vocab, shape, np.int32) for _ in range(2))
    for _ in range(STEPS):
        standing, _ = step(standing, tokens, targets)


def _parameters(config: Config, drawn: np.random.Generator) -> Parameters:
    """Some start; memory does not depend on which, and drawing it takes none beside it."""
    parameters = {name: drawn.random(shape, np.float32) for name, shape in held_shapes(config).items()}
    for array in parameters.values():
        array -= np.float32(0.5)
        array *= np.float32(0.1)
    return parameters


# Pages hold a library's own working memory too. What is freed is handed back to the system, or stays with the process:
# that is faster, and what `python -m training` does.
ON_HOST: dict[str, Figure] = {
    "arrays": _arrays,
    "pages, freed ones returned": _returned,
    "pages, freed ones kept": _kept,
}
ON_DEVICE: dict[str, Figure] = {"arrays on the device": _in_use, "reserved on the device": _reserved}
