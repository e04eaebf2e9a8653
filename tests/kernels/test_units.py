"""Products of float16 by the matrix units of every generation: each layout, tiles that end anywhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
import numpy as np
from bindings import Library

library, draw = Library(sys.argv[1]), np.random.default_rng(7)
for M, N, K in ((64, 64, 64), (17, 9, 33), (130, 72, 40)):
    A, B = (draw.integers(-3, 4, shape).astype(np.float16) for shape in ((M, K), (N, K)))
    expected = A.astype(np.float32) @ B.astype(np.float32).T
    C16, C32 = np.zeros((M, N), np.float16), np.zeros((M, N), np.float32)
    for name, given in (
        ("gemm_fp16", (A, B)),
        ("gemm_nn_fp16", (A, B.T.copy(), C16, 1.0, 0.0)),
        ("gemm_tn_fp16", (A.T.copy(), B.T.copy(), C32, 1.0, 0.0)),
        ("gemm_tt_fp16", (A.T.copy(), B, C16, 1.0, 0.0)),
    ):
        assert np.array_equal(getattr(library, name)(*given).astype(np.float32), expected), (name, M, N, K)
    U, offsets = draw.integers(-3, 4, (N, K)).astype(np.float16), np.array([0, M // 3 + 1, M], np.int32)
    of_up = A.astype(np.float32) @ U.astype(np.float32).T
    experts = np.stack([B, B]), np.stack([U, U])
    for gate, up, _ in (library.gemm_swiglu_fp16(A, B, U), library.grouped_gemm_swiglu_fp16(A, *experts, offsets)):
        assert np.array_equal(gate.astype(np.float32), expected), ("gate", M, N, K)
        assert np.array_equal(up.astype(np.float32), of_up), ("up", M, N, K)
"""


@pytest.mark.parametrize("arch", ["sm_70", "sm_75", "sm_80", "sm_90"])
def test_whole_numbers_are_exact(arch: str, emulated_path: Path) -> None:
    environment = {**os.environ, "ASSAYER_EMULATOR_ARCH": arch, "ASSAYER_EMULATOR_LAUNCHES": "1"}
    command = [sys.executable, "-c", PROGRAM, str(emulated_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("dynamic shared memory") >= 18  # what widens has none: by units, each of them
