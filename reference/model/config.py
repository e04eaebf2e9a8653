"""The sizes of a mixture-of-experts transformer."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from reference.arrays import check


@dataclass(frozen=True, kw_only=True)
class Config:
    """The architecture of one model; every size counts elements.

    Raises ValueError, naming the field, for sizes that fit no model.
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
    rope_base: float = 10000.0
    rope_alpha: float = 8.0
    eps: float = 1e-6
    aux_alpha: float = 0.01

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type == "int":
                whole = isinstance(value, int) and not isinstance(value, bool)
                check(whole and value >= 1, "Config", field.name, "a whole number of at least 1", value)
            else:
                check(math.isfinite(value), "Config", field.name, "a finite number", value)
        check(
            self.q_heads % self.kv_heads == 0,
            "Config",
            "kv_heads",
            f"a divisor of q_heads = {self.q_heads}",
            self.kv_heads,
        )
        even = self.head_dim > 2 and self.head_dim % 2 == 0
        check(even, "Config", "head_dim", "an even number above 2 (rotary pairs)", self.head_dim)
        check(self.top_k <= self.experts, "Config", "top_k", f"at most experts = {self.experts}", self.top_k)
        check(self.rope_base > 0, "Config", "rope_base", "above 0", self.rope_base)
        check(self.rope_alpha > 0, "Config", "rope_alpha", "above 0", self.rope_alpha)
        check(self.eps >= 0, "Config", "eps", "at least 0", self.eps)
        check(self.aux_alpha >= 0, "Config", "aux_alpha", "at least 0", self.aux_alpha)

    @property
    def attention_scale(self) -> float:
        """What the products of queries and keys are multiplied by: 1 / sqrt(head_dim)."""
        return float(self.head_dim**-0.5)


FULL = Config(
    hidden=768, layers=30, q_heads=12, kv_heads=1, head_dim=64, experts=16, top_k=4, ffn=6144, vocab=32000
)  # fmt: skip
TINY = Config(hidden=64, layers=2, q_heads=4, kv_heads=1, head_dim=16, experts=4, top_k=2, ffn=256, vocab=1000)
BENCH = Config(hidden=256, layers=4, q_heads=4, kv_heads=1, head_dim=64, experts=8, top_k=2, ffn=512, vocab=4096)

CONFIGS = {"full": FULL, "tiny": TINY, "bench": BENCH}


def named(name: str) -> Config:
    """The configuration of that name; ValueError lists the names there are."""
    check(name in CONFIGS, "configuration", "name", f"one of {', '.join(sorted(CONFIGS))}", name)
    return CONFIGS[name]
