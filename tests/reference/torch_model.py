"""The model once more, in PyTorch, as plainly as it can be said: no kernels, no sorting, gradients by autograd."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812

from reference.model.config import Config
from reference.model.parameters import Parameters
from reference.step import TrainingConfig


class Model:
    """float64 parameters under the reference's names."""

    def __init__(self, config: Config, arrays: Parameters) -> None:
        self.config = config
        self.parameters = {name: torch.tensor(array, requires_grad=True) for name, array in arrays.items()}

    def loss(self, tokens: Any, targets: Any) -> tuple[Any, Any]:
        """(cross entropy, auxiliary loss)."""
        c, p = self.config, self.parameters
        x, aux = p["embedding"][torch.tensor(tokens).long()], torch.zeros((), dtype=torch.float64)
        for index in range(c.layers):
            own = {name: p[f"layers.{index}.{name}"] for name in _NAMES}
            x = x + _attention(c, own, F.rms_norm(x, (c.hidden,), own["attn_norm"], c.eps))
            mixed, layer_aux = _moe(c, own, F.rms_norm(x, (c.hidden,), own["ffn_norm"], c.eps))
            x, aux = x + mixed, aux + layer_aux
        logits = F.rms_norm(x, (c.hidden,), p["final_norm"], c.eps) @ p["lm_head"].T
        return F.cross_entropy(logits.flatten(0, 1), torch.tensor(targets).long().flatten(), ignore_index=-1), aux

    def gradients(self, tokens: Any, targets: Any) -> dict[str, Any]:
        cross_entropy, aux = self.loss(tokens, targets)
        wanted = torch.autograd.grad(cross_entropy + aux, list(self.parameters.values()))
        return {name: gradient.numpy() for name, gradient in zip(self.parameters, wanted, strict=True)}


_NAMES = ("attn_norm", "w_q", "w_k", "w_v", "w_o", "ffn_norm", "router", "gate", "up", "down")


def _attention(c: Config, own: dict[str, Any], x: Any) -> Any:
    batch, seq, _ = x.shape
    q = _rotate(c, (x @ own["w_q"].T).view(batch, seq, c.q_heads, c.head_dim))
    k = _rotate(c, (x @ own["w_k"].T).view(batch, seq, c.kv_heads, c.head_dim))
    v = (x @ own["w_v"].T).view(batch, seq, c.kv_heads, c.head_dim)
    k, v = (heads.repeat_interleave(c.q_heads // c.kv_heads, dim=2) for heads in (k, v))
    scores = torch.einsum("bihd,bjhd->bhij", q, k) * c.head_dim**-0.5
    later = torch.triu(torch.ones(seq, seq, dtype=torch.bool), diagonal=1)
    weights = scores.masked_fill(later, -torch.inf).softmax(-1)
    return torch.einsum("bhij,bjhd->bihd", weights, v).flatten(2) @ own["w_o"].T


def _rotate(c: Config, x: Any) -> Any:
    """Each pair as a complex number, turned by its position's angle."""
    base = c.rope_base * c.rope_alpha ** (c.head_dim / (c.head_dim - 2))
    speeds = torch.tensor([base ** (-2 * d / c.head_dim) for d in range(c.head_dim // 2)], dtype=torch.float64)
    angles = torch.arange(x.shape[1], dtype=torch.float64)[:, None] * speeds
    turns = torch.exp(1j * angles)[:, None, :]
    return torch.view_as_real(torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2)) * turns).flatten(-2)


def _moe(c: Config, own: dict[str, Any], x: Any) -> tuple[Any, Any]:
    """Every expert on every token, those not chosen by weight 0."""
    probabilities = (x @ own["router"].T).softmax(-1)
    top, chosen = probabilities.topk(c.top_k, dim=-1)
    held = F.one_hot(chosen, c.experts)
    weights = ((top / top.sum(-1, keepdim=True))[..., None] * held).sum(-2)
    inner = F.silu(torch.einsum("bsh,efh->bsef", x, own["gate"])) * torch.einsum("bsh,efh->bsef", x, own["up"])
    outputs = torch.einsum("bsef,ehf->bseh", inner, own["down"])
    load = held.sum(-2).double().mean((0, 1))
    aux = c.aux_alpha * c.experts * (load * probabilities.mean((0, 1))).sum()
    return (weights[..., None] * outputs).sum(-2), aux


class Trainer:
    """torch.optim.AdamW on the model, with the schedule by LambdaLR and the norm by PyTorch's own."""

    def __init__(self, model: Model, training: TrainingConfig) -> None:
        self.model, self.training = model, training
        decaying = {True: [], False: []}  # type: dict[bool, list[Any]]
        for p in model.parameters.values():
            decaying[p.ndim >= 2].append(p)
        groups = [{"params": decaying[d], "weight_decay": training.weight_decay * d} for d in (True, False)]
        betas = (training.beta1, training.beta2)
        self.optimizer = torch.optim.AdamW(groups, lr=training.lr, betas=betas, eps=training.eps)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, self._factor)

    def _factor(self, done: int) -> float:
        """The rate of the update after `done` updates, as a share of the base rate."""
        t, warmup, total = done + 1, self.training.warmup, self.training.total
        if t <= warmup:
            return t / warmup
        return 0.55 + 0.45 * float(np.cos(np.pi * (min(t, total) - warmup) / (total - warmup)))

    def step(self, tokens: Any, targets: Any) -> Any:
        """One update; the norm of the gradients before clipping (which PyTorch's own does by clip / (norm + 1e-6))."""
        parameters = list(self.model.parameters.values())
        self.optimizer.zero_grad()
        sum(self.model.loss(tokens, targets)).backward()
        norm = torch.nn.utils.get_total_norm([p.grad for p in parameters])
        for p in parameters:
            p.grad *= min(1.0, self.training.clip_norm / norm)
        self.optimizer.step()
        self.scheduler.step()
        return norm.numpy()
