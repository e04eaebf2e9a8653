"""Every instruction set, and the plain C that any compiler takes, compute the same operations."""

from __future__ import annotations

import copy
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reference
from bindings import Library, header_path
from conformance import operations
from conformance.judging.outputs import judge_outputs
from conformance.limits.expectation import expect
from tests.c.test_build import COMPILER, SOURCES
from tests.reference.samples import SAMPLES, Draw

VECTOR_BITS = {"baseline": 128, "avx2": 256, "avx512": 512}
Open = Callable[[str], Library]


@pytest.fixture(scope="module")
def opened(stub_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Open:
    """Opens a variant: a library chooses on its first call, so each is a copy of its own."""
    folder = tmp_path_factory.mktemp("variants")
    libraries: dict[str, Library] = {}

    def open_variant(variant: str) -> Library:
        if variant not in libraries:
            path = folder / f"{variant}.so"
            if variant == "plain":
                compile_plain(path)
            else:
                shutil.copy(stub_path, path)
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("ASSAYER_SIMD", variant)
                libraries[variant] = Library(path)
                libraries[variant].services.fact("vector_bits")
        return libraries[variant]

    return open_variant


def compile_plain(path: Path) -> None:
    """Without CMake, OpenMP and vector types: the code for a compiler that knows nothing but C11."""
    command = [COMPILER, "-std=c11", "-O1", "-DASSAYER_NO_VECTORS", "-fPIC", "-shared", f"-I{header_path().parent}"]
    subprocess.run([*command, *SOURCES, "-lm", "-o", path], check=True)


def available(opened: Open, variant: str) -> Library:
    library = opened(variant)
    bits = library.services.fact("vector_bits")
    if variant in VECTOR_BITS and bits != VECTOR_BITS[variant]:
        pytest.skip(f"this processor or build has no {variant}: {bits} bits")
    return library


def agree(library: Library, operation: str, arguments: dict[str, Any]) -> None:
    """The judge finds no fault with any output of the call."""
    given = {name: float(np.float32(value)) if isinstance(value, float) else value for name, value in arguments.items()}
    function = operations.OPERATIONS[operation]
    results = getattr(library, operation)(**copy.deepcopy(given))
    flat = operations.flat(operations.by_name(function, results))
    outputs = {name: operations.widened(array) for name, array in flat.items()}
    given = operations.typed(function, given)
    expected = expect(operation, given)
    faults = [verdict for verdict in judge_outputs(operation, given, expected, outputs) if not verdict.passed]
    assert not faults, f"{operation}: {faults}"


@pytest.mark.slow
@pytest.mark.parametrize("variant", [*VECTOR_BITS, "plain"])
@pytest.mark.parametrize("operation", SAMPLES)
def test_sample(opened: Open, variant: str, operation: str) -> None:
    agree(available(opened, variant), operation, SAMPLES[operation](Draw(operation, np.float32)))


SHAPES = [(1, 1, 1), (3, 33, 5), (15, 31, 257), (131, 100, 300), (29, 1030, 17), (600, 17, 40)]


@pytest.mark.slow
@pytest.mark.parametrize("variant", [*VECTOR_BITS, "plain"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_products_that_end_inside_a_tile(opened: Open, variant: str, shape: tuple[int, int, int]) -> None:
    """Sizes on both sides of the tiles, the panels and the blocks, in all four layouts."""
    library, (m, n, k) = available(opened, variant), shape
    layouts = {
        "gemm_beta": ((m, k), (n, k)),
        "gemm_nn": ((m, k), (k, n)),
        "gemm_tn": ((k, m), (k, n)),
        "gemm_tt": ((k, m), (n, k)),
    }
    for operation, (a, b) in layouts.items():
        draw = Draw(f"{operation} {shape}", np.float32)
        given = {"A": draw.normal(*a), "B": draw.normal(*b), "alpha": 0.75}
        agree(library, operation, given | {"C": draw.normal(m, n), "beta": -0.5})
        agree(library, operation, given | {"C": np.full((m, n), np.nan, np.float32), "beta": 0.0})


@pytest.mark.parametrize("variant", [*VECTOR_BITS, "plain"])
@pytest.mark.parametrize("heads", [(4, 1), (4, 2), (3, 3)], ids=str)
@pytest.mark.parametrize("length", [1, 64, 130])
def test_attention_across_query_blocks(opened: Open, variant: str, heads: tuple[int, int], length: int) -> None:
    library, (q_heads, kv_heads) = available(opened, variant), heads
    draw = Draw(f"attention {heads} {length}", np.float32)
    Q, d_output = (draw.normal(2, length, q_heads, 20) for _ in range(2))
    K, V = (draw.normal(2, length + 3, kv_heads, 20) for _ in range(2))
    agree(library, "attention_forward", {"Q": Q, "K": K, "V": V, "kv_len": length + 2, "scale": 0.25})
    k, v = K[:, :length].copy(), V[:, :length].copy()
    output, lse = map(np.ascontiguousarray, reference.attention_forward(Q, k, v, length, 0.25))
    given = {"Q": Q, "K": k, "V": v, "output": output, "lse": lse, "d_output": d_output, "scale": 0.25}
    agree(library, "attention_backward", given)


def test_an_unknown_wish_is_no_wish(stub_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAYER_SIMD", "abacus")
    wished = Library(shutil.copy(stub_path, tmp_path / "wished.so")).services.fact("vector_bits")
    monkeypatch.delenv("ASSAYER_SIMD")
    assert wished == Library(shutil.copy(stub_path, tmp_path / "free.so")).services.fact("vector_bits")
