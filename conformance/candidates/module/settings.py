"""What a training step of a module is told beside its parameters, tokens and targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Settings:
    """The model's sizes and constants, the optimiser's, and where training stands.

    lr        the rate of this update, by the schedule; base_lr, warmup and total are what that is made of
    adam_eps  added to the root in AdamW; eps is that of the norms
    update    the number of this update, from 1
    m, v      AdamW's two moments before it, by the names of the parameters, in the framework's arrays
    """

    hidden: int
    layers: int
    q_heads: int
    kv_heads: int
    head_dim: int
    experts: int
    top_k: int
    ffn: int
    vocab: int
    rope_base: float
    rope_alpha: float
    eps: float
    aux_alpha: float
    lr: float
    beta1: float
    beta2: float
    adam_eps: float
    weight_decay: float
    clip_norm: float
    update: int
    base_lr: float
    warmup: int
    total: int
    m: dict[str, Any]
    v: dict[str, Any]
