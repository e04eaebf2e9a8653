"""Calls of a library whose runtime fails once, by ASSAYER_EMULATOR_FAIL.

    python -m tests.kernels.failing_calls LIBRARY NAME

prints what the first call returns, what a launch returns that comes next, and what the first call returns once more.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable

import numpy as np

SIZE = 64


def product(library: ctypes.CDLL) -> int:
    """C = A . B^T of bfloat16, a number of which is one as its bits are 0x3f80: 0, or 1 where C is wrong."""
    A, B, C = (np.full((SIZE, SIZE), bits, np.uint16) for bits in (0x3F80, 0x3F80, 0))
    addresses = (ctypes.c_void_p(array.ctypes.data) for array in (A, B, C))
    code: int = library.cuda_gemm_bf16(*addresses, *[ctypes.c_int(SIZE)] * 3, None)
    return code or int(np.any(C != 0x4280))  # 64


def silu(library: ctypes.CDLL, stream: ctypes.c_void_p | None = None) -> int:
    x, y = np.zeros(8, np.float32), np.ones(8, np.float32)
    addresses = (ctypes.c_void_p(array.ctypes.data) for array in (x, y))
    code: int = library.cuda_silu(*addresses, ctypes.c_int64(8), stream)
    return code or (0 if stream else int(y.any()))


def captured(library: ctypes.CDLL) -> int:
    """A graph of one call: the code of the end of its capture."""
    stream, graph = ctypes.c_void_p(), ctypes.c_void_p()
    assert library.assayer_stream_create(ctypes.byref(stream)) == 0
    assert library.assayer_capture_begin(stream) == 0
    assert silu(library, stream) == 0
    code: int = library.assayer_capture_end(stream, ctypes.byref(graph))
    assert (code == 0) == bool(graph), "a graph is given where there is no error, and no other"
    if graph:
        assert library.assayer_graph_destroy(graph) == 0
    assert library.assayer_stream_destroy(stream) == 0
    return code


CALLS: dict[str, Callable[[ctypes.CDLL], int]] = {"product": product, "captured": captured}

if __name__ == "__main__":
    loaded, call = ctypes.CDLL(sys.argv[1]), CALLS[sys.argv[2]]
    print(call(loaded), silu(loaded), call(loaded))
