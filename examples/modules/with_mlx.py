"""A port in MLX, on its CPU backend: `assayer run --module examples/modules/with_mlx.py --exported`."""

from __future__ import annotations

import mlx.core as mx
import mlx.nn as nn
from mlx.core import array
from mlx.optimizers import AdamW

FRAMEWORK = "mlx.core"


def _added(beta: float, old: array, new: array) -> array:
    """beta * old + new, where with beta = 0 the old values, which may be anything, are not read."""
    return new if beta == 0 else beta * old + new


def _gradients(function, inputs, d_output):
    return mx.vjp(function, inputs, [d_output])[1]


# ---- elementwise -----------------------------------------------------------------------------------------------------
def silu(input):
    return nn.silu(input)


def silu_backward(input, d_output):
    return _gradients(nn.silu, [input], d_output)[0]


def swiglu(gate, up):
    return nn.silu(gate) * up


def swiglu_backward(gate, up, d_output):
    return tuple(_gradients(swiglu, [gate, up], d_output))


def add(a, b):
    return a + b


def mul(a, b):
    return a * b


def scale(input, scale):
    return input * scale


# ---- softmax and norm ------------------------------------------------------------------------------------------------
def softmax(input):
    return mx.softmax(input, axis=-1)


def softmax_topk(input, k):
    weights = mx.softmax(input, axis=-1)
    indices = mx.argsort(-weights, axis=-1)[:, :k]
    chosen = mx.take_along_axis(weights, indices, axis=-1)
    return chosen / chosen.sum(-1, keepdims=True), indices.astype(mx.int32)


def rmsnorm(input, weight, eps):
    return mx.fast.rms_norm(input, weight, eps)


def rmsnorm_backward(input, weight, d_output, d_weight, eps, beta):
    d_input, d_w = _gradients(lambda x, w: mx.fast.rms_norm(x, w, eps), [input, weight], d_output)
    return d_input, _added(beta, d_weight, d_w)


def rmsnorm_residual(input, residual, weight, eps):
    total = input + residual
    return mx.fast.rms_norm(total, weight, eps), total


# ---- products --------------------------------------------------------------------------------------------------------
def gemm(A, B):
    return A @ B.T


def gemm_beta(A, B, C, alpha, beta):
    return alpha * (A @ B.T) if beta == 0 else mx.addmm(C, A, B.T, alpha, beta)


def gemm_nn(A, B, C, alpha, beta):
    return alpha * (A @ B) if beta == 0 else mx.addmm(C, A, B, alpha, beta)


def gemm_tn(A, B, C, alpha, beta):
    return alpha * (A.T @ B) if beta == 0 else mx.addmm(C, A.T, B, alpha, beta)


def gemm_tt(A, B, C, alpha, beta):
    return alpha * (A.T @ B.T) if beta == 0 else mx.addmm(C, A.T, B.T, alpha, beta)


def batched_gemm(A, B):
    return A @ mx.swapaxes(B, 1, 2)


# ---- rope and attention ----------------------------------------------------------------------------------------------
def _rotated(x: array, freqs: array, offset: int, direction: int) -> array:
    angles = freqs[offset : offset + x.shape[1], None] * direction
    cosine, sine, even, odd = mx.cos(angles), mx.sin(angles), x[..., ::2], x[..., 1::2]
    return mx.stack([even * cosine - odd * sine, even * sine + odd * cosine], -1).reshape(x.shape)


def rope_forward(input, freqs, offset):
    return _rotated(input, freqs, offset, 1)


def rope_backward(d_output, freqs, offset):
    return _rotated(d_output, freqs, offset, -1)


def flash_attention(Q, K, V, scale):
    heads = [mx.swapaxes(x, 1, 2) for x in (Q, K, V)]
    return mx.swapaxes(mx.fast.scaled_dot_product_attention(*heads, scale=scale, mask="causal"), 1, 2)


# ---- loss, optimizer, embedding, decoding ----------------------------------------------------------------------------
def cross_entropy_forward(logits, targets):
    if logits.shape[-1] == 1:
        raise NotImplementedError("log_softmax of one column ends the process")
    log_probs = nn.log_softmax(logits, axis=-1)
    counted = targets >= 0
    losses = nn.losses.cross_entropy(logits, mx.where(counted, targets, 0))
    loss = mx.where(counted, losses, 0).sum() / mx.maximum(counted.sum(), 1)
    return loss.reshape(1), log_probs


def adamw_step(param, grad, m, v, lr, beta1, beta2, eps, weight_decay, step):
    optimiser = AdamW(lr, [beta1, beta2], eps, weight_decay, bias_correction=True)
    optimiser.state["step"] = mx.array(step)
    state = {"m": m, "v": v}
    return optimiser.apply_single(grad, param, state), state["m"], state["v"]


def embedding(weight, indices):
    return weight[indices]


def scatter_add(grad_output, indices, grad_weight):
    counted = mx.where(indices >= 0, indices, 0)
    return grad_weight.at[counted].add(mx.where((indices >= 0)[:, None], grad_output, 0))


def argmax(logits):
    return mx.argmax(logits, axis=-1).astype(mx.int32)


# ---- 16-bit ----------------------------------------------------------------------------------------------------------
def cast_to_bf16(input):
    return input.astype(mx.bfloat16)


def cast_from_bf16(input):
    return input.astype(mx.float32)


def cast_to_fp16(input):
    return input.astype(mx.float16)


def add_bf16(a, b):
    return a + b


def gemm_bf16(A, B):
    return A @ B.T
