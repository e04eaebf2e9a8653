"""What a port's program does on files: the golden step, its own start, decoding; each is right, or told why not."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

import reference
from conformance.catalogue.goldens.step import parameters
from conformance.paths import GOLDEN
from reference.generate import Strategy, generate
from reference.model.config import TINY

STEP = "training_step/tiny/2x36.safetensors"
_SECONDS = 120
_PROMPT, _NEW, _SEED = np.array([[5, 17, 900], [3, 3, 64]], np.int32), 12, 7
STRATEGIES: Mapping[str, tuple[Strategy, Mapping[str, Any]]] = {
    "greedy": (Strategy(), {}),
    "sample": (Strategy(name="sample", temperature=0.8), {"seed": _SEED, "temperature": 0.8}),
    "top_k": (Strategy(name="top_k", temperature=1.2, k=40), {"seed": _SEED, "temperature": 1.2, "k": 40}),
    "top_p": (Strategy(name="top_p", temperature=1.0, top_p=0.8), {"seed": _SEED, "temperature": 1.0, "top_p": 0.8}),
}
Tensors = Mapping[str, NDArray[Any]]


class ProgramError(RuntimeError):
    """A port's program failed, or wrote no file that can be read."""


def run_program(program: tuple[str, ...], command: str, out: Path, given: Path | None = None) -> Tensors:
    """What one command of the program writes.  Raises ProgramError."""
    _call(command, *program, command, *([str(given)] if given else []), str(out))
    try:
        return load_file(out)
    except (OSError, SafetensorError) as error:
        raise ProgramError(f"{command}: {error}") from None


def _call(command: str, *words: str) -> None:
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ProgramError(f"{command}: {error}") from None
    if done.returncode:
        raise ProgramError(f"{command}: exit code {done.returncode}: {done.stderr.strip()}")


def write_golden(program: tuple[str, ...], folder: Path) -> None:
    """Let a program write its results of the golden step to a folder, which `run --outputs` judges."""
    out = folder / STEP
    out.parent.mkdir(parents=True, exist_ok=True)
    run_program(program, "golden", out, GOLDEN / STEP)


def write_answers(program: tuple[str, ...], folder: Path) -> None:
    """Let a program answer the goldens of its operations in a folder that is empty, which `run --outputs` judges."""
    shutil.rmtree(folder, ignore_errors=True)
    _call("answers", *program, str(GOLDEN), str(folder))


def wrong_start(program: tuple[str, ...], folder: Path) -> str:
    """What is wrong with the parameters that a port starts from, or nothing: they are exact, so every bit counts."""
    found = run_program(program, "start", folder / "start.safetensors")
    return next(_differences(found), "")


def _differences(found: Tensors) -> Iterator[str]:
    wanted = parameters()
    for name, array in wanted.items():
        got = found.get(f"output.parameters.{name}")
        if got is None or got.shape != array.shape or got.dtype != array.dtype:
            came = "nothing" if got is None else f"{got.dtype} {list(got.shape)}"
            yield f"start: {name}: expected {array.dtype} {list(array.shape)}, got {came}"
        elif got.ndim == 3 and all((expert == got[0]).all() for expert in got[1:]):
            yield f"start: all experts start alike: {name} is the same for each of {len(got)}"
        elif (wrong := np.flatnonzero(got.reshape(-1) != array.reshape(-1))).size:
            at = wrong[0]
            pair = f"expected {array.reshape(-1)[at]:.9g}, got {got.reshape(-1)[at]:.9g}"
            yield f"start: {name}: {wrong.size} of {array.size} elements differ, the first at {at}: {pair}"


def wrong_decoding(program: tuple[str, ...], folder: Path) -> str:
    """What is wrong with what a port generates, or nothing: greedy and drawn, the reference's tokens."""
    start = parameters()
    for name, (strategy, numbers) in STRATEGIES.items():
        given = {f"input.parameters.{key}": array for key, array in start.items()} | {"input.prompt": _PROMPT}
        for key, number in {**numbers, "max_new": _NEW}.items():
            given[f"argument.{key}"] = np.array([number], np.int64 if isinstance(number, int) else np.float32)
        path = folder / f"{name}.safetensors"
        save_file(given, path)
        got = run_program(program, "generate", folder / f"{name}_tokens.safetensors", path).get("output.tokens")
        wanted = generate(reference, TINY, start, _PROMPT, _NEW, strategy, _SEED)
        if got is None or got.shape != wanted.shape:
            came = "none" if got is None else list(got.shape)
            return f"decoding, {name}: expected tokens {list(wanted.shape)}, got {came}"
        if (wrong := np.argwhere(got != wanted)).size:
            row, place = wrong[0]
            return f"decoding, {name}: token {place} of row {row}: expected {wanted[row, place]}, got {got[row, place]}"
    return ""
