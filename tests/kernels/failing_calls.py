"""Calls of a library whose runtime fails once, by ASSAYER_EMULATOR_FAIL.

    python -m tests.kernels.failing_calls LIBRARY NAME

prints what the first call returns, what a launch returns that comes next, and what the first call returns once more;
of a name that ends in `scratch`, which a library without that launch can hold, the first and the last of these.
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


def scratch(library: ctypes.CDLL, stream: ctypes.c_void_p | None = None) -> int:
    """A product of two matrices of two by two, for which memory is taken whatever their layout: 0, or 1 if wrong."""
    arrays = a, b, output = [np.full(4, value, np.float32) for value in (2, 3, 0)]
    whole = [ctypes.c_int64 * count for count in (3, 2)]
    layouts = [whole[0](2, 2, 2), whole[0](2, 0, 1), whole[0](0, 2, 1), whole[1](2, 1)]
    sizes, offsets = [ctypes.c_int64(array.size) for array in arrays], [ctypes.c_int64(0)] * 3
    addresses = (ctypes.c_void_p(array.ctypes.data) for array in (a, b, output))
    code: int = library.cuda_matmul_strided(*addresses, *layouts, *sizes, ctypes.c_int(3), *offsets, stream)
    return code or (0 if stream else int(np.any(output != 12)))


def captured(library: ctypes.CDLL, captures: Callable[[ctypes.CDLL, ctypes.c_void_p], int] = silu) -> int:
    """A graph of one call: the call's code where it fails, else that of the end of the capture."""
    stream, graph = ctypes.c_void_p(), ctypes.c_void_p()
    assert library.assayer_stream_create(ctypes.byref(stream)) == 0
    assert library.assayer_capture_begin(stream) == 0
    refused = captures(library, stream)
    code: int = library.assayer_capture_end(stream, ctypes.byref(graph))
    assert (code == 0) == bool(graph), "a graph is given where there is no error, and no other"
    if graph:
        assert library.assayer_graph_destroy(graph) == 0
    assert library.assayer_stream_destroy(stream) == 0
    return refused or code


def captured_scratch(library: ctypes.CDLL) -> int:
    """A graph of one call that takes memory for itself."""
    return captured(library, scratch)


def begun(library: ctypes.CDLL) -> int:
    """The code of a capture's beginning; one that has begun is ended."""
    stream, graph = ctypes.c_void_p(), ctypes.c_void_p()
    assert library.assayer_stream_create(ctypes.byref(stream)) == 0
    code: int = library.assayer_capture_begin(stream)
    if code == 0:
        assert library.assayer_capture_end(stream, ctypes.byref(graph)) == 0
        assert library.assayer_graph_destroy(graph) == 0
    assert library.assayer_stream_destroy(stream) == 0
    return code


CALLS: dict[str, Callable[[ctypes.CDLL], int]] = {
    call.__name__: call for call in (product, captured, begun, scratch, captured_scratch)
}

if __name__ == "__main__":
    loaded, call = ctypes.CDLL(sys.argv[1]), CALLS[sys.argv[2]]
    between = [] if sys.argv[2].endswith("scratch") else [silu]
    print(*(each(loaded) for each in (call, *between, call)))
