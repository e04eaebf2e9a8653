"""The memory that training steps of a library really take: the resident memory of a process of its own."""

from __future__ import annotations

import multiprocessing
import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bindings import Library
from reference.model.config import Config
from reference.model.parameters import Parameters, held_shapes
from training.memory.predict import Setting

STEPS = 2  # behind the first all is where it stays
_STATUS = Path("/proc/self/status")


class Measured(NamedTuple):
    """Bytes at the worst moment beyond what the process held before: of the whole process, pages that it had touched
    (with a library's own working memory), and of Python's and NumPy's arrays alone."""

    resident: int
    arrays: int


def measure(setting: Setting, library: Path) -> Measured:
    """Run steps on a library, each figure in a fresh process. Raises OSError where the system tells no such thing."""
    return Measured(*(_fresh(function, setting, library) for function in (_resident, _arrays)))


def _fresh(function: Any, setting: Setting, library: Path) -> int:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as executor:
        return int(executor.submit(function, setting, library).result())


def _resident(setting: Setting, library: Path) -> int:
    ops = Library(library)
    before = _pages("VmRSS")
    _steps(setting, ops)
    return _pages("VmHWM") - before


def _arrays(setting: Setting, library: Path) -> int:
    ops = Library(library)
    tracemalloc.start()
    _steps(setting, ops)
    return tracemalloc.get_traced_memory()[1]


def _pages(name: str) -> int:
    """One figure of proc_pid_status(5), in bytes."""
    (line,) = (line for line in _STATUS.read_text(encoding="ascii").splitlines() if line.startswith(f"{name}:"))
    return 1024 * int(line.split()[1])


def _steps(setting: Setting, ops: Library) -> None:
    step = setting.step(ops)
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
