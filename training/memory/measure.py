"""The memory that training steps of a library really take: the resident memory of processes of their own."""

from __future__ import annotations

import multiprocessing
import os
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bindings import Library
from reference.model.config import TINY, Config
from reference.model.parameters import Parameters, held_shapes
from training.heap import keep_freed_memory, return_freed_memory
from training.memory.predict import Setting, predict

STEPS = 2  # behind the first all is where it stays
_STATUS = Path("/proc/self/status")


class Measured(NamedTuple):
    """Bytes at the worst moment beyond what the process held before.

    arrays    of Python's and NumPy's arrays
    returned  pages that the process had touched, a library's own working memory with them, where freed memory is handed
              back to the system
    kept      where it stays with the process, as in `python -m training`, which is faster
    """

    arrays: int
    returned: int
    kept: int


def measure(setting: Setting, library: Path) -> Measured:
    """Run steps on a library, for each figure in a fresh process.

    Raises ValueError for a model that does not fit the machine, OSError where the system tells no figures.
    """
    needed, there = predict(setting).peak, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if needed > there:
        raise ValueError(f"--check: expected a step that fits this machine's {there:,} bytes, got one of {needed:,}")
    return Measured(*(_fresh(function, setting, library) for function in (_arrays, _returned, _kept)))


def _fresh(function: Callable[[Setting, Path], int], setting: Setting, library: Path) -> int:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as executor:
        return executor.submit(function, setting, library).result()


def _arrays(setting: Setting, library: Path) -> int:
    ops = _warm(library)
    tracemalloc.start()
    _steps(setting, ops)
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
    _steps(setting, ops)
    return _pages("VmHWM") - before


def _pages(name: str) -> int:
    """One figure of proc_pid_status(5), in bytes."""
    (line,) = (line for line in _STATUS.read_text(encoding="ascii").splitlines() if line.startswith(f"{name}:"))
    return 1024 * int(line.split()[1])


def _warm(library: Path) -> Library:
    """Return the library after a step of a small model, which touches code and threads' stacks."""
    ops = Library(library)
    _steps(Setting(config=replace(TINY, hidden=8, layers=1, ffn=8, vocab=8), batch=1, seq=2), ops)
    return ops


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
