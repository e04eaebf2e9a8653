"""A port in eager PyTorch: `assayer run --module examples/modules/with_torch.py --exported`.

Functions have the names of the header's operations, without `cuda_`, and arguments of its names; results are returned,
in the header's order.  FRAMEWORK says whose arrays they take.  Where the processor multiplies bfloat16 by AVX-512
BF16 or AMX, add `--contract examples/modules/bf16_units.toml`.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F  # noqa: N812  (as every PyTorch program calls it)
from torch import Tensor

FRAMEWORK = "torch"


def _gradients(outputs, inputs, d_outputs):  # type: ignore[no-untyped-def]
    return torch.autograd.grad(outputs, inputs, d_outputs)


def _leaves(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The same values, of which autograd takes gradients; none of the arguments is marked."""
    return tuple(tensor.detach().clone().requires_grad_() for tensor in tensors)


def _added(beta: float, old: Tensor, new: Tensor) -> Tensor:
    """beta * old + new, where with beta = 0 the old values, which may be anything, are not read."""
    return new if beta == 0 else beta * old + new


# ---- elementwise -----------------------------------------------------------------------------------------------------
def silu(input):
    return F.silu(input)


def silu_backward(input, d_output):
    [x] = _leaves(input)
    return _gradients(F.silu(x), x, d_output)[0]


def swiglu(gate, up):
    return F.silu(gate) * up


def swiglu_backward(gate, up, d_output):
    leaves = _leaves(gate, up)
    return _gradients(swiglu(*leaves), leaves, d_output)


def add(a, b):
    return a + b


def mul(a, b):
    return a * b


def scale(input, scale):
    return input * scale


# ---- softmax and norm ------------------------------------------------------------------------------------------------
def softmax(input):
    return F.softmax(input, dim=-1)


def softmax_backward(output, d_output):
    return output * (d_output - (output * d_output).sum(-1, keepdim=True))


def softmax_topk(input, k):
    ordered, indices = softmax(input).sort(dim=-1, descending=True, stable=True)
    chosen = ordered[:, :k]
    return chosen / chosen.sum(-1, keepdim=True), indices[:, :k].int()


def softmax_topk_backward(weights, indices, d_weights, cols):
    d_chosen = softmax_backward(weights, d_weights)
    return torch.zeros(len(weights), cols).scatter_(1, indices.long(), d_chosen)


def rmsnorm(input, weight, eps):
    return F.rms_norm(input, weight.shape, weight, eps)


def rmsnorm_backward(input, weight, d_output, d_weight, eps, beta):
    x, w = _leaves(input, weight)
    d_input, d_w = _gradients(rmsnorm(x, w, eps), (x, w), d_output)
    return d_input, _added(beta, d_weight, d_w)


def rmsnorm_residual(input, residual, weight, eps):
    total = input + residual
    return rmsnorm(total, weight, eps), total


def rmsnorm_residual_backward(residual_out, weight, d_output, d_residual_out, d_weight, eps, beta):
    d_input, d_weight = rmsnorm_backward(residual_out, weight, d_output, d_weight, eps, beta)
    return d_input + d_residual_out, d_weight


# ---- gemm ------------------------------------------------------------------------------------------------------------
def gemm(A, B):
    return F.linear(A, B)


def gemm_beta(A, B, C, alpha, beta):
    return _added(beta, C, alpha * (A @ B.T))


def gemm_nn(A, B, C, alpha, beta):
    return _added(beta, C, alpha * (A @ B))


def gemm_tn(A, B, C, alpha, beta):
    return _added(beta, C, alpha * (A.T @ B))


def gemm_tt(A, B, C, alpha, beta):
    return _added(beta, C, alpha * (A.T @ B.T))


def batched_gemm(A, B):
    return torch.bmm(A, B.mT)


def _by_expert(rows: Tensor, offsets: Tensor) -> tuple[Tensor, ...]:
    return rows.split(offsets.diff().tolist())


def grouped_gemm(A, B, offsets):
    return torch.cat([rows @ weight.T for rows, weight in zip(_by_expert(A, offsets), B, strict=True)])


def grouped_gemm_nn(A, B, offsets):
    return torch.cat([rows @ weight for rows, weight in zip(_by_expert(A, offsets), B, strict=True)])


def grouped_gemm_tn(A, B, offsets, C, beta):
    pairs = zip(_by_expert(A, offsets), _by_expert(B, offsets), strict=True)
    return _added(beta, C, torch.stack([a.T @ b for a, b in pairs]))


# ---- rope ------------------------------------------------------------------------------------------------------------
def rope_freqs(max_seq_len, head_dim, base, alpha):
    scaled = base * alpha ** (head_dim / (head_dim - 2))
    rates = scaled ** (-torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)
    return torch.outer(torch.arange(max_seq_len, dtype=torch.float64), rates).float()


def _rotated(x: Tensor, freqs: Tensor, offset: int, direction: int) -> Tensor:
    angles = freqs[offset : offset + x.shape[1]] * direction
    turns = torch.polar(torch.ones_like(angles), angles)[None, :, None, :]
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * turns).flatten(-2)


def rope_forward(input, freqs, offset):
    return _rotated(input, freqs, offset, 1)


def rope_backward(d_output, freqs, offset):
    return _rotated(d_output, freqs, offset, -1)


def rope_qk(q, k, freqs, offset):
    return _rotated(q, freqs, offset, 1), _rotated(k, freqs, offset, 1)


def rope_qk_backward(d_q_out, d_k_out, freqs, offset):
    return _rotated(d_q_out, freqs, offset, -1), _rotated(d_k_out, freqs, offset, -1)


# ---- attention -------------------------------------------------------------------------------------------------------
def attention_scores(Q, K, scale):
    scores = torch.einsum("bihd,bjd->bhij", Q, K) * scale
    later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    return scores.masked_fill(later, -math.inf)


def attention_output(weights, V):
    return torch.einsum("bhij,bjd->bihd", weights, V).contiguous()


def _scores(Q: Tensor, K: Tensor, scale: float) -> Tensor:
    """Scores of each query and the keys up to its own place, the last query's being the last: [batch, heads, i, j]."""
    scores = torch.einsum("bihd,bjhd->bhij", Q, K.repeat_interleave(Q.shape[2] // K.shape[2], 2)) * scale
    later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1 + K.shape[1] - Q.shape[1])
    return scores.masked_fill(later, -math.inf)


def _weighted(weights: Tensor, V: Tensor) -> Tensor:
    return torch.einsum("bhij,bjhd->bihd", weights, V.repeat_interleave(weights.shape[1] // V.shape[2], 2))


def flash_attention(Q, K, V, scale):
    return _weighted(softmax(_scores(Q, K, scale)), V)


def attention_forward(Q, K, V, kv_len, scale):
    scores = _scores(Q, K[:, :kv_len], scale)
    largest = scores.amax(-1, keepdim=True)
    lse = largest[..., 0] + (scores - largest).exp().sum(-1).log()
    return _weighted(softmax(scores), V[:, :kv_len]), lse


def attention_backward(Q, K, V, output, lse, d_output, scale):
    """By autograd, through scores and a sum of weights; the weights themselves follow from the lse that is given."""
    q, k, v = _leaves(Q, K, V)
    scores = _scores(q, k, scale)
    weights = (scores.detach() - lse[..., None]).exp()
    [d_v] = _gradients(_weighted(weights, v), v, d_output)
    d_weights = torch.einsum("bihd,bjhd->bhij", d_output, V.repeat_interleave(Q.shape[2] // V.shape[2], 2))
    d_scores = weights * (d_weights - (d_output * output).sum(-1).mT[..., None])
    return *_gradients(scores, (q, k), d_scores), d_v


def kv_cache_append(input, cache, position):
    cache[:, position : position + input.shape[1]] = input


# ---- mixture of experts ----------------------------------------------------------------------------------------------
def expert_sort(indices, n_experts):
    flat = indices.flatten().long()
    offsets = F.pad(torch.bincount(flat, minlength=n_experts).cumsum(0), (1, 0))
    position = torch.empty_like(flat)
    position[flat.argsort(stable=True)] = torch.arange(flat.numel())
    return offsets.int(), position.view_as(indices).int()


def expert_dispatch(input, position):
    output = torch.empty(position.numel(), input.shape[1])
    output[position.flatten().long()] = input.repeat_interleave(position.shape[1], 0)
    return output


def expert_dispatch_backward(d_output, position):
    return d_output[position.long()].sum(1)


def expert_combine(input, weights, position):
    return torch.einsum("tk,tkh->th", weights, input[position.long()])


def expert_combine_backward(input, weights, position, d_output):
    rows, place = input[position.long()], position.flatten().long()
    d_input = torch.empty_like(input)
    d_input[place] = (weights[..., None] * d_output[:, None]).flatten(0, 1)
    return d_input, torch.einsum("tkh,th->tk", rows, d_output)


def aux_loss_forward(router_probs, expert_indices, alpha):
    tokens, experts = router_probs.shape
    chosen = F.one_hot(expert_indices.long(), experts).amax(1)
    counts, means = chosen.sum(0).float(), router_probs.mean(0)
    return (alpha * experts * (counts / tokens * means).sum()).reshape(1), counts, means


def aux_loss_backward(f_counts, batch_seq, alpha, scale):
    row = f_counts * (scale * alpha * len(f_counts) / batch_seq**2)
    return row.expand(batch_seq, -1)


# ---- loss ------------------------------------------------------------------------------------------------------------
def cross_entropy_forward(logits, targets):
    log_probs = F.log_softmax(logits, dim=-1)
    counted = targets >= 0
    labels = torch.where(counted, targets, -100).long()
    loss = F.nll_loss(log_probs, labels) if counted.any() else torch.zeros(())
    return loss.reshape(1), log_probs


def cross_entropy_backward(log_probs, targets, scale):
    counted = (targets >= 0)[:, None]
    hit = F.one_hot(targets.clamp(min=0).long(), log_probs.shape[1])
    return torch.where(counted, (log_probs.exp() - hit) * scale, 0.0)


# ---- optimizer -------------------------------------------------------------------------------------------------------
def adamw_step(param, grad, m, v, lr, beta1, beta2, eps, weight_decay, step):
    m = beta1 * m + (1 - beta1) * grad
    v = beta2 * v + (1 - beta2) * grad * grad
    update = m / (1 - beta1**step) / ((v / (1 - beta2**step)).sqrt() + eps)
    return param - lr * (update + weight_decay * param), m, v


def multi_adamw(params, grads, ms, vs, weight_decays, grad_scale, lr, beta1, beta2, eps, step):
    stepped = [
        adamw_step(p, g * grad_scale, m, v, lr, beta1, beta2, eps, decay, step)
        for p, g, m, v, decay in zip(params, grads, ms, vs, weight_decays, strict=True)
    ]
    return tuple(map(list, zip(*stepped, strict=True)))


def zero_grad(size):
    return torch.zeros(size)


def clip_scale(sum_squares, clip_norm):
    norm = sum_squares.sqrt()
    return norm, torch.where(norm > clip_norm, clip_norm / norm, 1.0)


def grad_clip(grad, clip_norm):
    norm = torch.linalg.vector_norm(grad).reshape(1)
    return torch.where(norm > clip_norm, grad * (clip_norm / norm), grad), norm


def multi_sum_squares(inputs):
    return torch.stack([(each * each).sum() for each in inputs]).sum().reshape(1)


def multi_nonfinite(inputs):
    return torch.stack([(~each.isfinite()).sum() for each in inputs]).sum().int().reshape(1)


def multi_scale(arrays, scale):
    return [array * scale for array in arrays]


# ---- embedding and decoding ------------------------------------------------------------------------------------------
def embedding(weight, indices):
    return F.embedding(indices, weight)


def scatter_add(grad_output, indices, grad_weight):
    counted = indices >= 0
    return grad_weight.index_add(0, indices[counted].long(), grad_output[counted])


def argmax(logits):
    return logits.argmax(-1).int()


# ---- 16-bit storage, arithmetic in float32, one rounding -------------------------------------------------------------
def cast_to_bf16(input):
    return input.bfloat16()


def cast_from_bf16(input):
    return input.float()


def cast_to_fp16(input):
    return input.half()


def cast_from_fp16(input):
    return input.float()


def add_bf16(a, b):
    return a + b


def swiglu_bf16(gate, up):
    return swiglu(gate.float(), up.float()).bfloat16()


def gemm_bf16(A, B):
    return A @ B.T
