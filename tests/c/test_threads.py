"""The same bits with any number of threads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

# Sizes large enough for every operation to share its work, and uneven.
PROGRAM = """
import hashlib, sys
import numpy as np
from bindings import Library
from reference import random

ops, seed = Library(sys.argv[1]), iter(range(100))
normal = lambda *shape: random.normal(next(seed), shape).astype(np.float32)
integers = lambda high, *shape: random.integers(next(seed), 0, high, shape).astype(np.int32)
A, B, x, w = normal(301, 190), normal(210, 190), normal(301, 190), normal(190)
q, k, v = normal(2, 130, 4, 24), normal(2, 130, 2, 24), normal(2, 130, 2, 24)
weights, chosen = ops.softmax_topk(normal(301, 5), k=2)
offsets, position = ops.expert_sort(chosen, n_experts=5)
rows = ops.expert_dispatch(x, position)

def convolved(planes, kernels, steps):
    # Steps: strides, pads and dilations by row and column, groups.
    x, weight = normal(*planes), normal(*kernels)
    output = ops.conv2d(x, weight, normal(len(weight)), *steps, 1)
    d_input = ops.conv2d_backward_input(weight, output, *planes[1:], *steps)
    d_weight = ops.conv2d_backward_weight(x, output, None, *kernels[2:], *steps, 0.0)
    return output, d_input, d_weight, ops.conv2d_backward_bias(output, None, 0.0)

output, lse = ops.attention_forward(q, k, v, kv_len=130, scale=0.2)
results = [
    ops.gemm(A, B), ops.gemm_tn(A, x, None, alpha=1.0, beta=0.0),
    ops.gemm_nn(A, normal(190, 70), None, alpha=1.0, beta=0.0),
    ops.grouped_gemm(rows, normal(5, 130, 190), offsets), ops.grouped_gemm_tn(rows, rows, offsets, None, beta=0.0),
    *ops.rmsnorm_backward(x, w, A, None, eps=1e-6, beta=0.0), output, lse,
    *ops.attention_backward(q, k, v, output, lse, normal(2, 130, 4, 24), scale=0.2),
    ops.expert_combine(rows, weights, position), *ops.expert_combine_backward(rows, weights, position, x),
    *ops.cross_entropy_forward(normal(301, 190), integers(190, 301)), ops.softmax(x),
    ops.scatter_add(x, integers(7, 301), normal(7, 190)), ops.multi_sum_squares([A, B, normal(50000)]),
    *ops.grad_clip(normal(50001), clip_norm=0.5), ops.silu(normal(50001)),
    *ops.rope_qk(q, k, normal(130, 12), offset=0),
    ops.mse_forward(normal(70001), normal(70001)), ops.bce_logits_forward(normal(70001), normal(70001)),
    *ops.cross_entropy_dense_forward(A, x, temperature=0.7),
    ops.cross_entropy_dense_backward(A, x, temperature=0.7, scale=1.0),
    *convolved((3, 12, 31, 40), (36, 6, 3, 3), (2, 1, 1, 0, 1, 2, 2)),
    *convolved((5, 2, 9, 9), (3, 2, 3, 3), (1, 1, 1, 1, 1, 1, 1)),
    *convolved((2, 70, 9, 9), (40, 70, 3, 3), (1, 1, 1, 1, 1, 1, 1)),
]
print(hashlib.sha256(b"".join(array.tobytes() for array in results)).hexdigest())
"""


def digest(library: Path, threads: int) -> str:
    given = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"}
    command = [sys.executable, "-c", PROGRAM, str(library)]
    done = subprocess.run(command, env=given, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_number_of_threads_does_not_show(stub_path: Path) -> None:
    assert len({digest(stub_path, threads) for threads in (1, 2, 3, 7)}) == 1
