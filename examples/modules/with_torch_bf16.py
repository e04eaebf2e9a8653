"""Eager PyTorch in bfloat16: each step of a formula rounds to 16 bits, which the contract `eager-bf16` declares.

`assayer run --module examples/modules/with_torch_bf16.py --exported --contract eager-bf16`
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812  (as every PyTorch program calls it)
from torch import Tensor

FRAMEWORK = "torch"


def _gradients(function, inputs, d_output):
    leaves = [tensor.detach().clone().requires_grad_() for tensor in inputs]
    return torch.autograd.grad(function(*leaves), leaves, d_output)


def _added(beta: float, old: Tensor, new: Tensor) -> Tensor:
    """beta * old + new, where with beta = 0 the old values, which may be anything, are not read."""
    return new if beta == 0 else beta * old + new


# ---- elementwise -----------------------------------------------------------------------------------------------------
def cast_to_bf16(input):
    return input.bfloat16()


def cast_from_bf16(input):
    return input.float()


def add_bf16(a, b):
    return a + b


def swiglu_bf16(gate, up):
    return F.silu(gate) * up


def swiglu_backward_bf16(gate, up, d_output):
    return _gradients(swiglu_bf16, (gate, up), d_output)


# ---- norm ------------------------------------------------------------------------------------------------------------
def _normalised(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """As Llama's code has it: the mean in float32, what is normalised rounded before the weight."""
    wide = x.float()
    return weight * (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)).bfloat16()


def rmsnorm_bf16(input, weight, eps):
    return _normalised(input, weight, eps).bfloat16()


def rmsnorm_backward_bf16(input, weight, d_output, d_weight, eps, beta):
    d_input, d_w = _gradients(lambda x, w: rmsnorm_bf16(x, w, eps), (input, weight), d_output)
    return d_input, _added(beta, d_weight, d_w)


def rmsnorm_residual_bf16(input, residual, weight, eps):
    total = input + residual
    return rmsnorm_bf16(total, weight, eps), total


# ---- products --------------------------------------------------------------------------------------------------------
def gemm_bf16(A, B):
    return F.linear(A, B)


def gemm_beta_bf16(A, B, C, alpha, beta):
    return _added(beta, C, alpha * (A @ B.T))


def gemm_nn_bf16(A, B, C, alpha, beta):
    return _added(beta, C, alpha * (A @ B))


def grouped_gemm_bf16(A, B, offsets):
    pieces = zip(A.split(offsets.diff().tolist()), B, strict=True)
    return torch.cat([rows @ weight.T for rows, weight in pieces])


# ---- rope and attention ----------------------------------------------------------------------------------------------
def _rotated(x: Tensor, freqs: Tensor, offset: int, direction: int) -> Tensor:
    angles = freqs[offset : offset + x.shape[1], None] * direction
    cosine, sine, even, odd = angles.cos().bfloat16(), angles.sin().bfloat16(), x[..., ::2], x[..., 1::2]
    return torch.stack([even * cosine - odd * sine, even * sine + odd * cosine], -1).flatten(-2)


def rope_qk_bf16(q, k, freqs, offset):
    return _rotated(q, freqs, offset, 1), _rotated(k, freqs, offset, 1)


def rope_qk_backward_bf16(d_q_out, d_k_out, freqs, offset):
    return _rotated(d_q_out, freqs, offset, -1), _rotated(d_k_out, freqs, offset, -1)


def attention_forward_bf16(Q, K, V, kv_len, scale):
    """Scores and weights in 16 bits, their softmax in float32, as eager attention computes it."""
    heads, queries = Q.shape[2], Q.shape[1]
    k, v = (x[:, :kv_len].repeat_interleave(heads // x.shape[2], 2).transpose(1, 2) for x in (K, V))
    later = torch.ones(queries, kv_len, dtype=torch.bool).triu(1 + kv_len - queries)
    scores = (Q.transpose(1, 2) @ k.mT * scale).masked_fill(later, float("-inf"))
    weights = F.softmax(scores, -1, dtype=torch.float32).bfloat16()
    return (weights @ v).transpose(1, 2).contiguous(), scores.float().logsumexp(-1)


# ---- mixture of experts, embedding, loss -----------------------------------------------------------------------------
def expert_dispatch_backward_bf16(d_output, position):
    return d_output[position.long()].sum(1)


def expert_combine_bf16(input, weights, position):
    return (weights[..., None] * input[position.long()]).sum(1).bfloat16()  # float32 weights widen the products


def embedding_bf16(weight, indices):
    return F.embedding(indices, weight)


def cross_entropy_forward_bf16(logits, targets):
    log_probs = F.log_softmax(logits, -1, dtype=torch.float32)
    counted = targets >= 0
    labels = torch.where(counted, targets, -100).long()
    loss = F.nll_loss(log_probs, labels) if counted.any() else torch.zeros(())
    return loss.reshape(1), log_probs
