"""A port in tinygrad: `assayer run --module examples/modules/with_tinygrad.py --exported`."""

from __future__ import annotations

import os
import shutil

_CLANG = (shutil.which(name) for name in ("clang", "clang-20", "clang-19", "clang-18", "clang-14"))
os.environ.setdefault("CC", next(filter(None, _CLANG), "clang"))  # compiles what starts its kernels
os.environ.setdefault("DEV", "CPU:X86")  # kernels by its own code generator
os.environ.setdefault("CACHELEVEL", "0")  # nothing is kept in the user's cache

from tinygrad import Tensor, dtypes  # noqa: E402  (it reads them once)


def _by_arrays(function):
    """Take and return arrays of NumPy's; numbers stay as they are."""

    def called(*arguments):
        results = function(*(Tensor(each) if hasattr(each, "shape") else each for each in arguments))
        return tuple(each.numpy() for each in results) if isinstance(results, tuple) else results.numpy()

    return called


def _added(beta, old, new):
    """beta * old + new, where with beta = 0 the old values, which may be anything, are not read."""
    return new if beta == 0 else beta * old + new


def _gradients(output, leaves, d_output):
    return tuple(output.gradient(*leaves, gradient=d_output))


# ---- elementwise -----------------------------------------------------------------------------------------------------
def silu(input):
    return _by_arrays(Tensor.silu)(input)


def silu_backward(input, d_output):
    return _by_arrays(lambda x, d: _gradients(x.silu(), [x], d)[0])(input, d_output)


def swiglu(gate, up):
    return _by_arrays(lambda g, u: g.silu() * u)(gate, up)


def swiglu_backward(gate, up, d_output):
    return _by_arrays(lambda g, u, d: _gradients(g.silu() * u, [g, u], d))(gate, up, d_output)


def add(a, b):
    return _by_arrays(Tensor.add)(a, b)


def mul(a, b):
    return _by_arrays(Tensor.mul)(a, b)


def scale(input, scale):
    return _by_arrays(Tensor.mul)(input, scale)


# ---- softmax and norm ------------------------------------------------------------------------------------------------
def softmax(input):
    return _by_arrays(Tensor.softmax)(input)


def softmax_topk(input, k):
    def called(x):
        chosen, indices = x.softmax().topk(k)
        return chosen / chosen.sum(-1, keepdim=True), indices.cast(dtypes.int32)

    return _by_arrays(called)(input)


def _normalised(x, weight, eps):
    return x * (x.square().mean(-1, keepdim=True) + eps).rsqrt() * weight


def rmsnorm(input, weight, eps):
    return _by_arrays(_normalised)(input, weight, eps)


def rmsnorm_backward(input, weight, d_output, d_weight, eps, beta):
    def called(x, w, d, before):
        d_input, d_w = _gradients(_normalised(x, w, eps), [x, w], d)
        return d_input, _added(beta, before, d_w)

    return _by_arrays(called)(input, weight, d_output, d_weight)


# ---- products --------------------------------------------------------------------------------------------------------
def gemm(A, B):
    return _by_arrays(lambda a, b: a @ b.T)(A, B)


def gemm_beta(A, B, C, alpha, beta):
    return _by_arrays(lambda a, b, c: _added(beta, c, alpha * (a @ b.T)))(A, B, C)


def gemm_nn(A, B, C, alpha, beta):
    return _by_arrays(lambda a, b, c: _added(beta, c, alpha * (a @ b)))(A, B, C)


def gemm_tn(A, B, C, alpha, beta):
    return _by_arrays(lambda a, b, c: _added(beta, c, alpha * (a.T @ b)))(A, B, C)


def batched_gemm(A, B):
    return _by_arrays(lambda a, b: a @ b.transpose(1, 2))(A, B)


# ---- rope and attention ----------------------------------------------------------------------------------------------
def _rotated(x, freqs, offset, direction):
    angles = freqs[offset : offset + x.shape[1]].reshape(1, x.shape[1], 1, -1) * direction
    cosine, sine, even, odd = angles.cos(), angles.sin(), x[..., ::2], x[..., 1::2]
    return (even * cosine - odd * sine).stack(even * sine + odd * cosine, dim=-1).reshape(x.shape)


def rope_forward(input, freqs, offset):
    return _by_arrays(_rotated)(input, freqs, offset, 1)


def rope_backward(d_output, freqs, offset):
    return _by_arrays(_rotated)(d_output, freqs, offset, -1)


def flash_attention(Q, K, V, scale):
    """Its function divides by the root of the size of a head; the rest of the scale goes to the queries."""

    def called(*tensors):
        q, k, v = (tensor.transpose(1, 2) for tensor in tensors)
        rest = scale * q.shape[-1] ** 0.5
        return (q * rest).scaled_dot_product_attention(k, v, is_causal=True, enable_gqa=True).transpose(1, 2)

    return _by_arrays(called)(Q, K, V)


# ---- loss, embedding, decoding ---------------------------------------------------------------------------------------
def cross_entropy_forward(logits, targets):
    def called(x, labels):
        counted = labels >= 0
        log_probs = x.log_softmax()
        picked = log_probs.gather(-1, counted.where(labels, 0).unsqueeze(-1)).squeeze(-1)
        return -counted.where(picked, 0).sum().reshape(1) / counted.sum().maximum(1), log_probs

    return _by_arrays(called)(logits, targets)


def embedding(weight, indices):
    return _by_arrays(lambda w, i: w[i])(weight, indices)


def argmax(logits):
    return _by_arrays(lambda x: x.argmax(-1).cast(dtypes.int32))(logits)
