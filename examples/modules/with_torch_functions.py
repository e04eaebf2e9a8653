"""PyTorch's own functions where they differ from the header's formulas: what each does, docs/wild.md says."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812  (as every PyTorch program calls it)

FRAMEWORK = "torch"


def flash_attention(Q, K, V, scale):
    heads = [tensor.transpose(1, 2) for tensor in (Q, K, V)]
    output = F.scaled_dot_product_attention(*heads, is_causal=True, scale=scale, enable_gqa=True)
    return output.transpose(1, 2)


def attention_backward(Q, K, V, output, lse, d_output, scale):
    leaves = [tensor.clone().requires_grad_() for tensor in (Q, K, V)]
    return torch.autograd.grad(flash_attention(*leaves, scale), leaves, d_output)


def gemm_beta(A, B, C, alpha, beta):
    return torch.addmm(C, A, B.T, beta=beta, alpha=alpha)


def gemm_nn(A, B, C, alpha, beta):
    return torch.addmm(C, A, B, beta=beta, alpha=alpha)


def gemm_tn(A, B, C, alpha, beta):
    return torch.addmm(C, A.T, B, beta=beta, alpha=alpha)


def gemm_tt(A, B, C, alpha, beta):
    return torch.addmm(C, A.T, B.T, beta=beta, alpha=alpha)


def adamw_step(param, grad, m, v, lr, beta1, beta2, eps, weight_decay, step):
    """torch.optim.AdamW, its state set; it updates the arrays in place."""
    optimiser = torch.optim.AdamW([param], lr, (beta1, beta2), eps, weight_decay, foreach=False)
    optimiser.state[param] = {"step": torch.tensor(float(step - 1)), "exp_avg": m, "exp_avg_sq": v}
    param.grad = grad
    optimiser.step()


def grad_clip(grad, clip_norm):
    leaf = torch.zeros_like(grad)
    leaf.grad = grad
    return grad, torch.nn.utils.clip_grad_norm_([leaf], clip_norm).reshape(1)


def rmsnorm(input, weight, eps):
    return F.rms_norm(input, weight.shape, weight, eps)


def rmsnorm_backward(input, weight, d_output, d_weight, eps, beta):
    x, w = (tensor.clone().requires_grad_() for tensor in (input, weight))
    d_input, d_w = torch.autograd.grad(rmsnorm(x, w, eps), (x, w), d_output)
    return d_input, d_w if beta == 0 else beta * d_weight + d_w
