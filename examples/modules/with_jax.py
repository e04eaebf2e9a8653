"""A port in JAX: `assayer run --module examples/modules/with_jax.py --exported`."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

FRAMEWORK = "jax"
jax.config.update("jax_default_matmul_precision", "highest")


def _added(beta: float, old: Array, new: Array) -> Array:
    """beta * old + new, where with beta = 0 the old values, which may be anything, are not read."""
    return new if beta == 0 else beta * old + new


# ---- elementwise -----------------------------------------------------------------------------------------------------
def silu(input):
    return jax.nn.silu(input)


def silu_backward(input, d_output):
    return jax.vjp(jax.nn.silu, input)[1](d_output)[0]


def swiglu(gate, up):
    return jax.nn.silu(gate) * up


def swiglu_backward(gate, up, d_output):
    return jax.vjp(swiglu, gate, up)[1](d_output)


def add(a, b):
    return a + b


def mul(a, b):
    return a * b


def scale(input, scale):
    return input * scale


# ---- softmax and norm ------------------------------------------------------------------------------------------------
def softmax(input):
    return jax.nn.softmax(input, axis=-1)


def softmax_backward(output, d_output):
    return output * (d_output - (output * d_output).sum(-1, keepdims=True))


def softmax_topk(input, k):
    chosen, indices = jax.lax.top_k(softmax(input), k)
    return chosen / chosen.sum(-1, keepdims=True), indices


def rmsnorm(input, weight, eps):
    return input * jax.lax.rsqrt(jnp.mean(jnp.square(input), -1, keepdims=True) + eps) * weight


def rmsnorm_backward(input, weight, d_output, d_weight, eps, beta):
    d_input, d_w = jax.vjp(lambda x, w: rmsnorm(x, w, eps), input, weight)[1](d_output)
    return d_input, _added(beta, d_weight, d_w)


def rmsnorm_residual(input, residual, weight, eps):
    total = input + residual
    return rmsnorm(total, weight, eps), total


# ---- gemm ------------------------------------------------------------------------------------------------------------
def gemm(A, B):
    return A @ B.T


def gemm_beta(A, B, C, alpha, beta):
    return _added(beta, C, alpha * (A @ B.T))


def gemm_nn(A, B, C, alpha, beta):
    return _added(beta, C, alpha * (A @ B))


def gemm_tn(A, B, C, alpha, beta):
    return _added(beta, C, alpha * (A.T @ B))


def gemm_tt(A, B, C, alpha, beta):
    return _added(beta, C, alpha * (A.T @ B.T))


def batched_gemm(A, B):
    return jnp.einsum("bmk,bnk->bmn", A, B)


# ---- rope and attention ----------------------------------------------------------------------------------------------
def _rotated(x: Array, freqs: Array, offset: int, direction: int) -> Array:
    angles = freqs[offset : offset + x.shape[1], None] * direction
    cosine, sine, even, odd = jnp.cos(angles), jnp.sin(angles), x[..., ::2], x[..., 1::2]
    return jnp.stack([even * cosine - odd * sine, even * sine + odd * cosine], -1).reshape(x.shape)


def rope_forward(input, freqs, offset):
    return _rotated(input, freqs, offset, 1)


def rope_backward(d_output, freqs, offset):
    return _rotated(d_output, freqs, offset, -1)


def flash_attention(Q, K, V, scale):
    return jax.nn.dot_product_attention(Q, K, V, scale=scale, is_causal=True)


# ---- loss, embedding, decoding ---------------------------------------------------------------------------------------
def cross_entropy_forward(logits, targets):
    log_probs = jax.nn.log_softmax(logits, axis=-1)
    counted = targets >= 0
    picked = jnp.take_along_axis(log_probs, jnp.where(counted, targets, 0)[:, None], 1)[:, 0]
    loss = -jnp.where(counted, picked, 0).sum() / jnp.maximum(counted.sum(), 1)
    return loss.reshape(1), log_probs


def cross_entropy_backward(log_probs, targets, scale):
    hit = jax.nn.one_hot(targets, log_probs.shape[1], dtype=log_probs.dtype)
    return jnp.where((targets >= 0)[:, None], (jnp.exp(log_probs) - hit) * scale, 0)


def adamw_step(param, grad, m, v, lr, beta1, beta2, eps, weight_decay, step):
    m = beta1 * m + (1 - beta1) * grad
    v = beta2 * v + (1 - beta2) * grad * grad
    update = m / (1 - beta1**step) / (jnp.sqrt(v / (1 - beta2**step)) + eps)
    return param - lr * (update + weight_decay * param), m, v


def embedding(weight, indices):
    return jnp.take(weight, indices, axis=0)


def scatter_add(grad_output, indices, grad_weight):
    counted = jnp.where(indices >= 0, indices, len(grad_weight))  # what lies past the end is passed over
    return grad_weight.at[counted].add(grad_output, mode="drop")


def argmax(logits):
    return jnp.argmax(logits, -1).astype(jnp.int32)


# ---- 16-bit ----------------------------------------------------------------------------------------------------------
def cast_to_bf16(input):
    return input.astype(jnp.bfloat16)


def cast_from_bf16(input):
    return input.astype(jnp.float32)


def add_bf16(a, b):
    return a + b


def gemm_bf16(A, B):
    return jnp.matmul(A, B.T, preferred_element_type=jnp.float32).astype(jnp.bfloat16)
