"""Kernels that read and store 16 bits: no more launches than in float32, and nothing converted before or after."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from reference.ops import attention, gemm, gemm_swiglu, sixteen

# Products have kernels of matrix units; attention is converted around float32 where no such kernel takes its head_dim.
PRODUCTS = [f.__name__ for f in sixteen.RESULTS if f.__module__ in (gemm.__name__, gemm_swiglu.__name__)]
_OTHERS = {attention.attention_forward.__name__, attention.attention_backward.__name__, *PRODUCTS}
OPERATIONS = [f.__name__ for f in sixteen.RESULTS if f.__name__ not in _OTHERS]
_CALLS = """
import os
import sys
from bindings import Library
from conformance import operations
from conformance.catalogue.cases import CASES
library = Library(sys.argv[1])
SLICE = 16  # a product in float32 of no more terms is left to float32
for name in sys.argv[2:]:
    cases = [CASES[id] for id in CASES.among([name])]
    depths = [case.sizes.get("K", case.sizes.get("rows", SLICE + 1)) for case in cases]
    arguments = next(case for case, depth in zip(cases, depths) if depth > SLICE).arguments()
    for operation in (name, f"{name}_bf16", f"{name}_fp16"):
        given = operations.as_declared(operation, arguments)
        os.write(2, f"calls {operation}\\n".encode())
        getattr(library, operation)(**given)
"""


@pytest.fixture(scope="module")
def launched(emulated_path: Path) -> dict[str, list[str]]:
    """The kernels that each operation's first case of some size launches in each format.

    They run in a process of their own: settings are read once in one.
    """
    command = [sys.executable, "-c", _CALLS, str(emulated_path), *OPERATIONS, *PRODUCTS]
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
def test_the_launches_of_float32_launches_as_in_float32(operation: str, launched: dict[str, list[str]]) -> None:
    assert launched[operation]
    for suffix in sixteen.FORMATS:
        assert launched[f"{operation}_{suffix}"] == launched[operation]


@pytest.mark.parametrize("operation", PRODUCTS)
def test_no_more_launches_than_in_float32(operation: str, launched: dict[str, list[str]]) -> None:
    for suffix in sixteen.FORMATS:
        assert 1 <= len(launched[f"{operation}_{suffix}"]) <= len(launched[operation])
