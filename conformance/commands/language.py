"""`python -m conformance language`: whether the tiny model learns to write, on each backend."""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from conformance.exit_codes import FAILED, HARNESS, PASSED
from conformance.limits.envelope import REPLICAS
from conformance.limits.measure import SIGMAS
from conformance.steps.language.comparison import STEPS, Comparison, check
from training.plot import draw

from .options import add_command, positive

EXAMPLES = """\
  language --backend reference --backend stub
  language --backend path/to/libyours.so --output language
"""


def add_parser(commands: Any) -> None:
    """Register the command `language`."""
    parser = add_command(commands, "language", "train a small model to a stated loss on each backend", run, EXAMPLES)
    parser.add_argument(
        "--backend", action="append", metavar="NAME", help="reference, stub or a library (default: reference and stub)"
    )
    parser.add_argument("--steps", type=positive, default=STEPS, help="steps of each run (default: %(default)s)")
    parser.add_argument("--replicas", type=positive, default=REPLICAS, help="honest runs beside it (%(default)s)")
    parser.add_argument("--output", type=Path, help="new folder to keep the runs and their curves in")
    parser.add_argument("-n", type=positive, default=os.cpu_count() or 1, metavar="N", help="processes (%(default)s)")


def run(options: argparse.Namespace) -> int:
    """Check, print what was found, and return the exit code."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        output = options.output or Path(folder)
        backends = options.backend or ["reference", "stub"]
        try:
            found = check(backends, output, processes=options.n, steps=options.steps, replicas=options.replicas)
        except (ValueError, OSError) as error:  # nothing was trained
            print(f"error: {error}")
            return HARNESS
        except (RuntimeError, LookupError, ArithmeticError) as error:  # a library that lacks something, or breaks off
            print(f"error: {type(error).__name__}: {error}")
            return FAILED
        if options.output:
            draw({_short(each.backend): each.curves for each in found.checked}, output / "curves.svg")
    print(_table(found, options.replicas), _summary(found), sep="\n\n")
    print(f"\n{time.monotonic() - begun:.0f} s")
    return FAILED if any(map(found.wrong, found.checked)) else PASSED


def _table(found: Comparison, replicas: int) -> str:
    """Each place's loss of validation: the replicas' mean, and by how many spreads each backend is off it."""
    lines = [f"loss of validation, and how many spreads of {replicas} honest runs off their mean (limit {SIGMAS:g}):"]
    names = "".join(f"  {_short(checked.backend):>18}" for checked in found.checked)
    lines.append(f"{'step':>6}  {'mean':>8}  {'spread':>8}{names}")
    for row, (step, mean) in enumerate(zip(found.places, found.expected.v, strict=True)):
        sigma = found.expected.sigma[row]
        line = f"{step:>6}  {mean:8.4f}  {sigma:8.5f}"
        for checked in found.checked:
            loss = checked.curves.validation[checked.curves.validated == step][0]
            line += f"  {loss:8.4f} ({(loss - mean) / sigma:+.1f})".rjust(20)
        lines.append(line)
    return "\n".join(lines)


def _summary(found: Comparison) -> str:
    lines = [f"counting pairs of bytes comes to {found.stated:.4f}"]
    for checked in found.checked:
        wrong = found.wrong(checked)
        said = f"FAIL {wrong}" if wrong else "PASS"
        steps = checked.curves.steps[-1]
        lines.append(f"{_short(checked.backend)}: {checked.loss:.4f} after {steps} steps: {said}")
        lines.append(f"  {checked.sample!r}")
    return "\n".join(lines)


def _short(backend: str) -> str:
    return Path(backend).name
