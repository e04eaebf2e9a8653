"""A mixture-of-experts transformer in PyTorch, as somebody may have it: names, layouts and modules of its own."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class Norm(nn.Module):
    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


class Attention(nn.Module):
    def __init__(self, width: int, heads: int, kv_heads: int, head_dim: int, eps: float) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = heads, kv_heads, head_dim
        self.split = [heads * head_dim, kv_heads * head_dim, kv_heads * head_dim]  # of qkv's rows
        self.norm = Norm(width, eps)
        self.qkv = nn.Linear(width, sum(self.split), bias=False)
        self.out = nn.Linear(heads * head_dim, width, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        heads = self.qkv(self.norm(x)).unflatten(-1, (-1, self.head_dim)).transpose(1, 2)
        q, k, v = heads.split([self.heads, self.kv_heads, self.kv_heads], dim=1)
        q, k = rotated(q, cos, sin), rotated(k, cos, sin)
        k, v = (t.repeat_interleave(self.heads // self.kv_heads, dim=1) for t in (k, v))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).flatten(2))


def rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)


class Expert(nn.Module):
    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.gate_up = nn.Linear(width, 2 * inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        gate, up = self.gate_up(x).chunk(2, dim=-1)
        return self.down(functional.silu(gate) * up)


class MoE(nn.Module):
    def __init__(self, width: int, inner: int, experts: int, top_k: int, eps: float) -> None:
        super().__init__()
        self.top_k = top_k
        self.norm = Norm(width, eps)
        self.router = nn.Linear(width, experts, bias=False)
        self.experts = nn.ModuleList(Expert(width, inner) for _ in range(experts))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        flat = self.norm(x).flatten(0, 1)
        probs = self.router(flat).softmax(-1)
        weights, chosen = probs.topk(self.top_k)
        weights = weights / weights.sum(-1, keepdim=True)
        y = torch.zeros_like(flat)
        for number, expert in enumerate(self.experts):
            rows, place = torch.where(chosen == number)
            y = y.index_add(0, rows, weights[rows, place, None] * expert(flat[rows]))
        load = functional.one_hot(chosen, len(self.experts)).sum((0, 1)) / len(flat)
        return y.view_as(x), len(self.experts) * (load * probs.mean(0)).sum()


class Model(nn.Module):
    def __init__(
        self, vocab: int, width: int, depth: int, heads: int, kv_heads: int, head_dim: int, inner: int, experts: int,
        top_k: int, rope_base: float, rope_alpha: float, eps: float, balance: float,
    ) -> None:  # fmt: skip
        super().__init__()
        self.rope_base = rope_base * rope_alpha ** (head_dim / (head_dim - 2))  # NTK
        self.head_dim, self.balance = head_dim, balance
        self.embed = nn.Embedding(vocab, width)
        self.attention = nn.ModuleList(Attention(width, heads, kv_heads, head_dim, eps) for _ in range(depth))
        self.moe = nn.ModuleList(MoE(width, inner, experts, top_k, eps) for _ in range(depth))
        self.norm = Norm(width, eps)
        self.head = nn.Linear(width, vocab, bias=False)

    def forward(self, tokens: Tensor, targets: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the loss, its cross entropy over targets that are not negative, and its balancing loss."""
        half = self.head_dim // 2
        angles = torch.arange(tokens.shape[1])[:, None] * self.rope_base ** (-torch.arange(half).double() / half)
        cos, sin = angles.cos().float(), angles.sin().float()
        x, balance = self.embed(tokens), torch.zeros(())
        for attention, moe in zip(self.attention, self.moe, strict=True):
            x = x + attention(x, cos, sin)
            y, one = moe(x)
            x, balance = x + y, balance + one
        logits = self.head(self.norm(x)).flatten(0, 1)
        cross_entropy = functional.cross_entropy(logits, targets.flatten().long(), ignore_index=-1)
        aux_loss = self.balance * balance
        return cross_entropy + aux_loss, cross_entropy, aux_loss
