"""Kernels that read and store 16 bits: the same launches as in float32, and nothing converted before or after."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from reference.ops import attention, gemm, sixteen

# What has kernels of its own in 16 bits, or is converted around those of float32.
_OTHERS = {attention.__name__, gemm.__name__}
OPERATIONS = [f.__name__ for f in sixteen.RESULTS if f.__module__ not in _OTHERS] + ["kv_cache_append"]
_CALLS = """
import os
import sys
from bindings import Library
from conformance import operations
from conformance.catalogue.cases import CASES
library = Library(sys.argv[1])
for name in sys.argv[2:]:
    arguments = CASES[next(CASES.among([name]))].arguments()
    for operation in (name, f"{name}_bf16", f"{name}_fp16"):
        given = operations.as_declared(operation, arguments)
        os.write(2, f"calls {operation}\\n".encode())
        getattr(library, operation)(**given)
"""


@pytest.fixture(scope="module")
def launched(emulated_path: Path) -> dict[str, list[str]]:
    """The kernels that each operation's first case launches in each format.

    They run in a process of their own: settings are read once in one.
    """
    command = [sys.executable, "-c", _CALLS, str(emulated_path), *OPERATIONS]
    environment = {**os.environ, "ASSAYER_EMULATOR_LAUNCHES": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    found: dict[str, list[str]] = {}
    for operation, kernel in re.findall(r"^calls (\w+)$|launch of kernel `(\w+)", done.stderr, re.MULTILINE):
        if operation:
            found[operation] = []
        else:
            found[list(found)[-1]].append(kernel)
    return found


@pytest.mark.parametrize("operation", OPERATIONS)
def test_as_many_launches_as_in_float32(operation: str, launched: dict[str, list[str]]) -> None:
    assert launched[operation]
    for suffix in sixteen.FORMATS:
        assert launched[f"{operation}_{suffix}"] == launched[operation]
