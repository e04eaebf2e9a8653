"""The same model and training step in PyTorch, eager, in the fastest form we know: what the others compare with.

Experts run on sorted tokens by grouped products, gate and up in one; attention is the library's own; AdamW is fused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from reference.model.config import Config
from reference.model.parameters import Parameters
from reference.step import TrainingConfig, learning_rate


class TorchPeer:
    """A model with its optimiser; parameters are taken from the reference's and keep their dtype.

    autocast: in which format it computes what PyTorch's autocast computes in 16 bits; None: in none.
    """

    def __init__(
        self, config: Config, training: TrainingConfig, parameters: Parameters, autocast: torch.dtype | None = None
    ) -> None:
        self.config, self.training, self.updates = config, training, 0
        self.autocast = autocast
        arrays = dict(parameters)
        for layer in range(config.layers):  # one product for both
            gate, up = (arrays.pop(f"layers.{layer}.{name}") for name in ("gate", "up"))
            arrays[f"layers.{layer}.gate_up"] = np.concatenate([gate, up], axis=1)
        self.parameters = {name: torch.tensor(array, requires_grad=True) for name, array in arrays.items()}
        decays = [p for p in self.parameters.values() if p.ndim >= 2]
        others = [p for p in self.parameters.values() if p.ndim < 2]
        groups = [{"params": decays, "weight_decay": training.weight_decay}, {"params": others, "weight_decay": 0.0}]
        betas = (training.beta1, training.beta2)
        self.optimizer = torch.optim.AdamW(groups, lr=training.lr, betas=betas, eps=training.eps, fused=True)

    def training_step(self, tokens: Tensor, targets: Tensor) -> Tensor:
        """One update; tokens and targets int64 [batch, seq]. The loss before it."""
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=self.autocast, enabled=self.autocast is not None):
            loss = self.loss(tokens, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.parameters.values(), self.training.clip_norm, foreach=True)
        self.updates += 1
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(self.training, self.updates)
        self.optimizer.step()
        return loss.detach()

    def loss(self, tokens: Tensor, targets: Tensor) -> Tensor:
        """Cross entropy plus the layers' auxiliary losses."""
        config, p = self.config, self.parameters
        batch, seq = tokens.shape
        x = F.embedding(tokens.reshape(-1), p["embedding"])
        turns = _rotations(config, seq, x.dtype)
        aux_loss = x.new_zeros(())
        for layer in range(config.layers):
            weights = {name: p[f"layers.{layer}.{name}"] for name in _LAYER}
            normed = F.rms_norm(x, (config.hidden,), weights["attn_norm"], config.eps)
            x = x + _attention(config, weights, normed.view(batch, seq, -1), turns)
            normed = F.rms_norm(x, (config.hidden,), weights["ffn_norm"], config.eps)
            mixed, aux = _moe(config, weights, normed)
            x, aux_loss = x + mixed, aux_loss + aux
        logits = F.linear(F.rms_norm(x, (config.hidden,), p["final_norm"], config.eps), p["lm_head"])
        return F.cross_entropy(logits, targets.reshape(-1), ignore_index=-1) + aux_loss

    def gradients(self) -> dict[str, np.ndarray[Any, Any]]:
        """The gradients of the last backward, under the reference's names."""
        found = {name: p.grad.numpy() for name, p in self.parameters.items() if p.grad is not None}
        for layer in range(self.config.layers):
            both = found.pop(f"layers.{layer}.gate_up")
            gate, up = np.split(both, 2, axis=1)
            found |= {f"layers.{layer}.gate": gate, f"layers.{layer}.up": up}
        return found


_LAYER = ("attn_norm", "w_q", "w_k", "w_v", "w_o", "ffn_norm", "router", "gate_up", "down")


def _rotations(config: Config, seq: int, dtype: torch.dtype) -> Tensor:
    d = config.head_dim
    base = config.rope_base * config.rope_alpha ** (d / (d - 2))
    angles = torch.outer(
        torch.arange(seq, dtype=torch.float64), base ** (torch.arange(0, d, 2, dtype=torch.float64) / -d)
    )
    turns = torch.polar(torch.ones_like(angles), angles)
    return turns.to(torch.complex64 if dtype == torch.float32 else torch.complex128)[None, :, None, :]


def _rotated(x: Tensor, turns: Tensor) -> Tensor:
    pairs = torch.view_as_complex(x.view(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * turns).flatten(-2)


def _attention(config: Config, weights: dict[str, Tensor], x: Tensor, turns: Tensor) -> Tensor:
    batch, seq, _ = x.shape
    q = _rotated(F.linear(x, weights["w_q"]).view(batch, seq, config.q_heads, -1), turns)
    k = _rotated(F.linear(x, weights["w_k"]).view(batch, seq, config.kv_heads, -1), turns)
    v = F.linear(x, weights["w_v"]).view(batch, seq, config.kv_heads, -1)
    q, k, v = (heads.transpose(1, 2) for heads in (q, k, v))
    y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    return F.linear(y.transpose(1, 2).reshape(batch * seq, -1), weights["w_o"])


def _moe(config: Config, weights: dict[str, Tensor], x: Tensor) -> tuple[Tensor, Tensor]:
    logits = F.linear(x, weights["router"])
    top, chosen = logits.topk(config.top_k, dim=-1)
    flat = chosen.flatten()
    counts = torch.bincount(flat, minlength=config.experts)
    share = counts.to(x.dtype) / x.shape[0]
    aux_loss = config.aux_alpha * config.experts * (share * logits.softmax(-1).mean(0)).sum()
    order = flat.argsort(stable=True)
    offsets = counts.cumsum(0).to(torch.int32)
    rows = x.index_select(0, order // config.top_k)
    gate, up = torch._grouped_mm(rows, weights["gate_up"].transpose(1, 2), offsets).chunk(2, dim=-1)
    rows = torch._grouped_mm(F.silu(gate) * up, weights["down"].transpose(1, 2), offsets)
    back = rows.index_select(0, order.argsort()).view(*chosen.shape, -1)
    return (top.softmax(-1)[:, :, None] * back).sum(1), aux_loss
