"""The key of what is kept: all that can change a number, an argument or a judgement of trust."""

from __future__ import annotations

import functools
import hashlib
import os
import platform

import numpy as np

from bindings import header_path
from conformance.paths import ROOT

# Folders whose sources make what is kept, and files beside them.
_FOLDERS = ("reference", "bindings/header", "training", "tensors", "conformance/limits", "conformance/catalogue",
            "conformance/judging", "conformance/steps")  # fmt: skip
_FILES = ("conformance/operations.py", "conformance/paths.py")
_VARIABLES = ("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES", "NPY_ENABLE_CPU_FEATURES")


@functools.cache
def made_by() -> str:
    """Return a digest of the sources, the header, Python, NumPy and the processor's features that it uses."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(repr((platform.python_version(), platform.machine(), np.__version__, _features())).encode())
    digest.update(header_path().read_bytes())
    for path in sorted(_sources()):
        with open(path, "rb") as file:  # noqa: PTH123  (a few hundred files, at the start of every run)
            digest.update(os.path.relpath(path, ROOT).encode() + file.read())
    return digest.hexdigest()


def _features() -> tuple[object, ...]:
    """What decides in which order BLAS and NumPy add up on this machine."""
    found = np.show_config(mode="dicts")
    simd = found.get("SIMD Extensions", {}).get("found", [])
    return (*simd, _model(), *(os.environ.get(name, "") for name in _VARIABLES))


def _model() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123
            return next((line for line in file if line.startswith("model name")), "")
    except OSError:
        return ""


def _sources() -> list[str]:
    found = [str(ROOT / name) for name in _FILES]
    for folder in _FOLDERS:
        for place, _, names in os.walk(ROOT / folder):
            found += [os.path.join(place, name) for name in names if name.endswith(".py")]  # noqa: PTH118
    return found
