"""ggml on the CPU, as npm's `@node-llama-cpp/linux-x64` ships it: `assayer run --module examples/modules/with_ggml.py`.

Of its builds, one for each kind of processor, ggml's own score chooses; GGML_BUILD=x64 (haswell ...) names one.
An array's shape stands in ggml in the reverse order: the first number is the length of a row.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from ctypes import POINTER, c_bool, c_float, c_int, c_int64, c_size_t, c_void_p
from pathlib import Path

import ml_dtypes
import numpy as np

_FOLDER = Path(sys.prefix, "node_modules", "@node-llama-cpp", "linux-x64", "bins", "linux-x64")
_F32, _F16, _I32, _BF16 = 0, 1, 26, 30
_TYPES = {np.dtype(np.float32): _F32, np.dtype(np.float16): _F16, np.dtype(np.int32): _I32}
_TYPES[np.dtype(ml_dtypes.bfloat16)] = _BF16
_DTYPES = {kind: dtype for dtype, kind in _TYPES.items()}


class _InitParams(ctypes.Structure):
    _fields_ = (("mem_size", c_size_t), ("mem_buffer", c_void_p), ("no_alloc", c_bool))


def _score(library: ctypes.CDLL) -> int:
    """How well a build suits this processor; 0 where it cannot run here."""
    return int(library.ggml_backend_score()) if hasattr(library, "ggml_backend_score") else 1


def _backend() -> ctypes.CDLL:
    if build := os.environ.get("GGML_BUILD"):
        return ctypes.CDLL(str(_FOLDER / f"libggml-cpu-{build}.so"))
    return max(map(ctypes.CDLL, map(str, sorted(_FOLDER.glob("libggml-cpu-*.so")))), key=_score)


_base = ctypes.CDLL(str(_FOLDER / "libggml-base.so"), ctypes.RTLD_GLOBAL)
_cpu = _backend()
_cpu.ggml_cpu_init()  # the tables of its 16-bit conversions


def _function(name, *kinds, returns=c_void_p, library=None):
    found = getattr(library or _base, f"ggml_{name}")
    found.argtypes, found.restype = kinds, returns
    return found


_init = _function("init", _InitParams)
_free = _function("free", c_void_p, returns=None)
_new_tensor = _function("new_tensor", c_void_p, c_int, c_int, POINTER(c_int64))
_data = _function("get_data", c_void_p)
_bytes = _function("nbytes", c_void_p, returns=c_size_t)
_new_graph = _function("new_graph", c_void_p)
_expand = _function("build_forward_expand", c_void_p, c_void_p, returns=None)
_compute = _function("graph_compute_with_ctx", c_void_p, c_void_p, c_int, returns=c_int, library=_cpu)
_set_param = _function("set_param", c_void_p, returns=None)


class _Graph:
    """A context of ggml's, with room for some arrays and what is computed of them."""

    def __init__(self, room: int) -> None:
        self.context = _init(_InitParams(room + (1 << 20), None, False))

    def tensor(self, array):
        shape = (c_int64 * max(array.ndim, 1))(*(array.shape[::-1] or (1,)))
        tensor = _new_tensor(self.context, _TYPES[array.dtype], len(shape), shape)
        dense = np.ascontiguousarray(array)
        ctypes.memmove(_data(tensor), dense.ctypes.data, dense.nbytes)
        return tensor

    def apply(self, name, *arguments):
        """ggml_NAME(context, arguments): a tensor is an address, a Python float a float, a Python int an int."""
        kinds = [{float: c_float, _Int: c_int, int: c_void_p, type(None): c_void_p}[type(each)] for each in arguments]
        return _function(name, c_void_p, *kinds)(self.context, *arguments)

    def result(self, tensor, shape, kind=_F32):
        graph = _new_graph(self.context)
        _expand(graph, tensor)
        if status := _compute(self.context, graph, 1):
            raise RuntimeError(f"ggml_graph_compute returned {status}")
        return self.read(tensor, shape, kind)

    def read(self, tensor, shape, kind=_F32):
        return np.frombuffer(ctypes.string_at(_data(tensor), _bytes(tensor)), _DTYPES[kind]).reshape(shape)


class _Int(int):
    """A whole number that is none of ggml's tensors."""


@contextlib.contextmanager
def _graph(*arrays, room=4):
    """A graph, and its tensors of the arrays."""
    size = max(each.size for each in arrays)
    graph = _Graph(sum(each.nbytes for each in arrays) + 4 * size * room)
    try:
        yield graph, *map(graph.tensor, arrays)
    finally:
        _free(graph.context)


def _elementwise(name, *arrays, numbers=()):
    with _graph(*arrays) as (graph, *tensors):
        made = graph.apply(name, *tensors, *numbers)
        return graph.result(made, arrays[0].shape, _TYPES[arrays[0].dtype])


# ---- elementwise -----------------------------------------------------------------------------------------------------
def silu(input):
    return _elementwise("silu", input)


def silu_backward(input, d_output):
    return _elementwise("silu_back", d_output, input)


def swiglu(gate, up):
    return _elementwise("swiglu_split", gate, up)


def add(a, b):
    return _elementwise("add", a, b)


def mul(a, b):
    return _elementwise("mul", a, b)


def scale(input, scale):
    return _elementwise("scale", input, numbers=[float(scale)])


# ---- softmax and norm ------------------------------------------------------------------------------------------------
def softmax(input):
    return _elementwise("soft_max", input)


def softmax_backward(output, d_output):
    return _elementwise("soft_max_ext_back", d_output, output, numbers=[1.0, 0.0])


def rmsnorm(input, weight, eps):
    with _graph(input, weight) as (graph, x, w):
        return graph.result(graph.apply("mul", graph.apply("rms_norm", x, float(eps)), w), input.shape)


def rmsnorm_residual(input, residual, weight, eps):
    total = add(input, residual)
    return rmsnorm(total, weight, eps), total


# ---- products --------------------------------------------------------------------------------------------------------
def _product(A, B):
    """A . B^T of the last two axes: ggml's mul_mat(B, A)."""
    shape = (*A.shape[:-1], B.shape[-2])
    with _graph(A, B, np.empty(shape, np.float32)) as (graph, a, b, _):
        return graph.result(graph.apply("mul_mat", b, a), shape)


def gemm(A, B):
    return _product(A, B)


def batched_gemm(A, B):
    return _product(A, B)


def gemm_bf16(A, B):
    return cast_to_bf16(_product(A.astype(np.float32), B))


def gemm_fp16(A, B):
    return cast_to_fp16(_product(A.astype(np.float32), B))


def grouped_gemm(A, B, offsets):
    """By mul_mat_id, as its experts are computed: each row names its matrix."""
    expert = np.repeat(np.arange(len(B), dtype=np.int32), np.diff(offsets))
    shape = (len(A), B.shape[1])
    with _graph(A[:, None], B, expert[:, None], np.empty(shape, np.float32)) as (graph, a, b, ids, _):
        return graph.result(graph.apply("mul_mat_id", b, a, ids), shape)


# ---- attention -------------------------------------------------------------------------------------------------------
def flash_attention(Q, K, V, scale):
    """mul_mat, soft_max_ext and mul_mat, as it computes attention without a fused kernel."""
    batch, length, heads, width = Q.shape
    q, k, v = (np.moveaxis(x, 1, 2) for x in (Q, K, V))
    mask = np.triu(np.full((length, length), -np.inf, np.float32), 1)
    scores = np.empty((batch, heads, length, length), np.float32)
    with _graph(q, k, np.swapaxes(v, 2, 3), mask, scores, room=8) as (graph, q, k, v, m, _):
        weights = graph.apply("soft_max_ext", graph.apply("mul_mat", k, q), m, float(scale), 0.0)
        output = graph.result(graph.apply("mul_mat", v, weights), (batch, heads, length, width))
    return np.moveaxis(output, 1, 2)


# ---- optimizer, embedding, decoding ----------------------------------------------------------------------------------
def adamw_step(param, grad, m, v, lr, beta1, beta2, eps, weight_decay, step):
    bias = 1 / (1 - beta1**step), 1 / (1 - beta2**step)
    settings = np.array([lr, beta1, beta2, eps, weight_decay, *bias], np.float32)
    with _graph(param, grad, m, v, settings) as (graph, p, g, first, second, s):
        _set_param(p)
        stepped = graph.result(graph.apply("opt_step_adamw", p, g, first, second, s), param.shape)
        return stepped, graph.read(first, m.shape), graph.read(second, v.shape)


def embedding(weight, indices):
    shape = (len(indices), weight.shape[1])
    with _graph(weight, indices, np.empty(shape, np.float32)) as (graph, w, i, _):
        return graph.result(graph.apply("get_rows", w, i), shape)


def argmax(logits):
    with _graph(logits) as (graph, x):
        return graph.result(graph.apply("argmax", x), len(logits), _I32)


# ---- 16-bit ----------------------------------------------------------------------------------------------------------
def _converted(name, array, dtype):
    """ggml_NAME(from, to, how many): its conversions of rows."""
    output = np.empty(array.shape, dtype)
    convert = _function(name, c_void_p, c_void_p, c_int64, returns=None)
    convert(np.ascontiguousarray(array).ctypes.data, output.ctypes.data, array.size)
    return output


def cast_to_bf16(input):
    return _converted("fp32_to_bf16_row", input, ml_dtypes.bfloat16)


def cast_from_bf16(input):
    return _converted("bf16_to_fp32_row", input, np.float32)


def cast_to_fp16(input):
    return _converted("fp32_to_fp16_row", input, np.float16)


def cast_from_fp16(input):
    return _converted("fp16_to_fp32_row", input, np.float32)


def add_bf16(a, b):
    return _elementwise("add", a, b)


def add_fp16(a, b):
    return _elementwise("add", a, b)


def swiglu_fp16(gate, up):
    return _elementwise("swiglu_split", gate, up)
