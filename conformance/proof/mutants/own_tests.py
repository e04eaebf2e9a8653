"""A library's own tests of what no case looks at, run on a build: services, and of C memory, crowds and first calls."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from conformance.paths import ROOT

from . import units


class Tests(NamedTuple):
    """A file of tests, the variable by which it is told of a library, and the sources it looks at, if not all.

    traps: whether it asks for what C leaves undefined, which shows in a library alone that is compiled with traps.
    """

    name: str
    variable: str
    sources: Collection[str] = ()
    traps: bool = False

    def looks_at(self, file: str) -> bool:
        """Whether a mistake in a source can show in these tests and in no case."""
        return not self.sources or file in self.sources


_C, _KERNELS = "ASSAYER_STUB", "ASSAYER_EMULATED"
_MEMORY, _VECTORS = ("scratch.c", "scratch.h"), ("simd.c", "simd.h")
_STRIDED = ("strides.h", "strided.c", "strided_reduce.c", "strided_matmul.c")
_PAST_CACHES = ("strided.c", "strides.h", "vector/layout.c")
_PAST_INDICES = (
    *("attention_halves.cu", "convolution.cu", "moe.cu", "pooling.cu", "product.cu"),
    *("recurrent.cu", "recurrent.cuh", "recurrent_backward.cu"),
)
_FRAMES = ("convolution_dense.c", "convolution_packed.c", "convolution_weight.c", "windows.c", "windows.h")
C = (
    Tests("tests/c/test_services.py", _C),
    Tests("tests/c/test_scratch.py", _C, _MEMORY),
    Tests("tests/c/test_crowd.py", _C, _MEMORY),
    Tests("tests/c/test_first_calls.py", _C, _VECTORS),
    Tests("tests/c/test_empty_tensors.py", _C, _STRIDED, traps=True),
    Tests("tests/c/test_strided_sums.py", _C, ("strided_reduce.c", "strides.h", "vector/joins.c")),
    Tests("tests/c/test_past_caches.py", _C, _PAST_CACHES),
    Tests("tests/c/test_frames.py", _C, _FRAMES),
    Tests("tests/c/test_units.py", _C, units.SOURCES),
    Tests("tests/c/test_no_memory.py", _C),
    Tests("tests/c/test_given_back.py", _C),
    Tests("tests/c/test_fork.py", _C, ("fork.c",)),
)
KERNELS = (
    Tests("tests/kernels/test_services.py", _KERNELS),
    Tests("tests/kernels/test_scratch_of_calls.py", _KERNELS, ("scratch.cuh",)),
    Tests("tests/kernels/test_errors.py", _KERNELS, ("runtime.cu", "scratch.cuh")),
    Tests("tests/kernels/test_sizes_past_indices.py", _KERNELS, _PAST_INDICES),
    Tests("tests/kernels/test_draws.py", _KERNELS, ("decode.cu",)),
)
_LIMIT_S = 120.0


def texts() -> list[str]:
    """Return the texts of the tests; an installed package has none."""
    files = (ROOT / tests.name for tests in (*C, *KERNELS))
    return [file.read_text(encoding="utf-8") for file in files if file.exists()]


def failed(tests: Tests, library: Path) -> str:
    """Run tests on a library; return the first that fails, or nothing, as where there are no tests."""
    if not texts():
        return ""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", tests.name]
    environment = {**os.environ, tests.variable: str(library), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=_LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return f"no end in {_LIMIT_S:g} s"
    if not done.returncode:
        return ""
    told = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    return (told or [f"exit code {done.returncode}"])[0][:200]
