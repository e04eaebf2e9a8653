"""One training step of a candidate, tensor by tensor: the share of its limit that each uses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from bindings.places import module
from conformance.steps.function import ID

_SECONDS = 600
_READABLE = "ASSAYER_READABLE"
# A namespace of operations as the function of a whole step, which `run --step` takes.
_ADAPTER = """\
from pathlib import Path

{imported}
from {function}.expected import results_of
from {reference}.step import State

NAMESPACE = {namespace}
SINGLE = ("loss", "cross_entropy", "aux_loss", "norm")
GROUPS = {{"gradients": "gradient.", "parameters": "parameter.", "m": "m.", "v": "v."}}


def copied(arrays):
    return {{name: array.copy() for name, array in arrays.items()}}


def step(parameters, tokens, targets, settings):
    before = State(copied(parameters), copied(settings.m), copied(settings.v), settings.update - 1)
    found = results_of(NAMESPACE, before, tokens, targets)
    groups = {{key: {{name: found[prefix + name] for name in parameters}} for key, prefix in GROUPS.items()}}
    return {{name: found[name] for name in SINGLE}} | groups
"""
# What is made of numbers alone, with no array that tells its type, NumPy makes of float64.
_IN_FLOAT32 = """\
import numpy as np
from {reference} import *
from {reference} import rope_freqs as _rope_freqs
from {reference} import zero_grad as _zero_grad


def rope_freqs(max_seq_len, head_dim, base, alpha):
    return _rope_freqs(max_seq_len, head_dim, base, alpha).astype(np.float32)


def zero_grad(size):
    return _zero_grad(size).astype(np.float32)
"""


class StepError(RuntimeError):
    """A step could not be judged; the message holds the judge's last line."""


def of_library(path: Path, folder: Path) -> Path:
    """Write a step that calls a library's operations in the reference's order; return the module's path."""
    return _write(folder, f"from {module('bindings')} import Library", f"Library(Path({str(path)!r}))")


def of_reference(folder: Path) -> Path:
    """Write a step of the reference itself, in float32; return the module's path."""
    return _write(folder, f"import {module('reference')} as reference", "reference")


def reference_module(folder: Path) -> Path:
    """Write the reference's operations, in float32, as a module of operations; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "reference_as_module.py"
    path.write_text(_IN_FLOAT32.format(reference=module("reference")), encoding="utf-8")
    return path


def _write(folder: Path, imported: str, namespace: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "operations_as_step.py"
    names = {"function": module("conformance.steps.function"), "reference": module("reference")}
    path.write_text(_ADAPTER.format(imported=imported, namespace=namespace, **names), encoding="utf-8")
    return path


def shares(step: Path, readable: Path | None = None) -> Mapping[str, float]:
    """Judge a step in a process of its own; return each tensor's largest error / limit, in the order of the update.

    readable: a folder that its process may look into.  Raises StepError.
    """
    report = step.with_suffix(".jsonl")
    report.unlink(missing_ok=True)
    command = (sys.executable, "-m", module("conformance"), "run", "-q", "--step", f"{step}:step", "--case", ID)
    variables = {**os.environ}
    if readable:
        variables[_READABLE] = os.pathsep.join(filter(None, (os.environ.get(_READABLE), str(readable))))
    try:
        done = subprocess.run(
            (*command, "--jsonl", str(report)),
            env=variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise StepError(f"one training step: the judge did not end within {_SECONDS} s") from None
    lines = report.read_text(encoding="utf-8").splitlines() if report.is_file() else []
    verdicts = [verdict for line in lines for verdict in json.loads(line).get("verdicts") or ()]
    if not verdicts:
        said = (done.stdout.strip() or done.stderr.strip() or "nothing was said").splitlines()
        raise StepError(f"one training step: {said[0]}")
    return {verdict["output"]: float(verdict["share"]) for verdict in verdicts}
