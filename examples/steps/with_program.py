"""A training step in any language, judged whole: a program that reads a file of safetensors and writes one.

Put this beside the program: `assayer run --step port/with_program.py:step` calls `port/port step IN OUT`.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

PROGRAM = (str(Path(__file__).resolve().parent / "port"),)
SIZES = ("hidden", "layers", "q_heads", "kv_heads", "head_dim", "experts", "top_k", "ffn", "vocab", "update")
NUMBERS = (
    "rope_base",
    "rope_alpha",
    "eps",
    "aux_alpha",
    "lr",
    "beta1",
    "beta2",
    "adam_eps",
    "weight_decay",
    "clip_norm",
)
GROUPS = ("gradients", "parameters", "m", "v")


def step(parameters: dict[str, Any], tokens: Any, targets: Any, settings: Any) -> dict[str, Any]:
    given: dict[str, NDArray[Any]] = {"input.tokens": tokens, "input.targets": targets}
    for kind, arrays in (("parameters", parameters), ("m", settings.m), ("v", settings.v)):
        given |= {f"input.{kind}.{name}": array for name, array in arrays.items()}
    given |= {f"settings.{name}": np.array([getattr(settings, name)], np.int64) for name in SIZES}
    given |= {f"settings.{name}": np.array([getattr(settings, name)], np.float32) for name in NUMBERS}
    with tempfile.TemporaryDirectory() as folder:
        before, after = Path(folder, "given.safetensors"), Path(folder, "results.safetensors")
        save_file(given, before)
        done = subprocess.run([*PROGRAM, "step", before, after], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{PROGRAM[-1]}: exit code {done.returncode}: {done.stderr.strip()}")
        found = load_file(after)
    results: dict[str, Any] = {name: found[f"output.{name}"] for name in ("loss", "cross_entropy", "aux_loss", "norm")}
    for group in GROUPS:
        results[group] = {name: found[f"output.{group}.{name}"] for name in parameters}
    return results
