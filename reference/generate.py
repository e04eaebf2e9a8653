"""Decoding with a cache of keys and values: greedy, sampled, from the k likeliest, from the likeliest share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from . import random
from .arrays import Array, check
from .model import transformer
from .model.attention import Cache
from .model.config import Config
from .model.parameters import Parameters
from .namespace import Ops

STRATEGIES = ("greedy", "sample", "top_k", "top_p")


@dataclass(frozen=True, kw_only=True)
class Strategy:
    """How the next token is chosen. temperature 0 is greedy; k counts for "top_k" and top_p for "top_p" alone."""

    name: Literal["greedy", "sample", "top_k", "top_p"] = "greedy"
    temperature: float = 1.0
    k: int = 50
    top_p: float = 0.9

    def __post_init__(self) -> None:
        check(self.name in STRATEGIES, "generate", "strategy", f"one of {', '.join(STRATEGIES)}", self.name)
        finite = math.isfinite(self.temperature) and self.temperature >= 0
        check(finite, "generate", "temperature", "a finite number of at least 0", self.temperature)
        check(self.k >= 1, "generate", "k", "at least 1", self.k)
        check(not math.isnan(self.top_p), "generate", "top_p", "a number", self.top_p)

    def choose(self, ops: Ops, logits: Array, seeds: Array) -> Array:
        """The next token of each row, int32 [batch]; logits: [batch, vocab], seeds: uint64 [batch]."""
        if self.name == "greedy":
            return ops.argmax(logits)
        if self.name == "sample":
            return ops.sample(logits, seeds, temperature=self.temperature)
        if self.name == "top_k":
            return ops.topk_sample(logits, seeds, k=self.k, temperature=self.temperature)
        return ops.topp_sample(logits, seeds, top_p=self.top_p, temperature=self.temperature)


GREEDY = Strategy()


class Decoding(NamedTuple):
    """How far decoding has come: what the caches hold is the first `position` tokens."""

    caches: list[Cache | None]
    freqs: Array
    position: int


def generate(
    ops: Ops,
    config: Config,
    parameters: Parameters,
    prompt: Array,
    max_new: int,
    strategy: Strategy = GREEDY,
    seed: int = 0,
) -> Array:
    """The prompt continued by max_new tokens: int32 [batch, n] in, int32 [batch, n + max_new] out."""
    check(prompt.ndim == 2 and prompt.size > 0, "generate", "prompt", "shape (batch, at least one token)", prompt.shape)
    check(max_new >= 0, "generate", "max_new", "at least 0", max_new)
    decoding = begin(ops, config, len(prompt), prompt.shape[1] + max_new)
    tokens = [prompt]
    for step in range(max_new):
        logits, decoding = advance(ops, config, parameters, decoding, tokens[-1])
        tokens.append(strategy.choose(ops, logits, seeds(seed, step, len(prompt))).reshape(-1, 1))
    return np.concatenate(tokens, axis=1)


def begin(ops: Ops, config: Config, batch: int, capacity: int) -> Decoding:
    """Empty caches for `capacity` tokens."""
    shape = (batch, capacity, config.kv_heads, config.head_dim)
    empty = [ops.zero_grad(size=math.prod(shape)).reshape(shape) for _ in range(2 * config.layers)]
    caches: list[Cache | None] = [Cache(*pair) for pair in zip(empty[::2], empty[1::2], strict=True)]
    return Decoding(caches, transformer.rotary_angles(ops, config, capacity), 0)


def advance(
    ops: Ops, config: Config, parameters: Parameters, decoding: Decoding, tokens: Array, last: Array | None = None
) -> tuple[Array, Decoding]:
    """(logits [batch, vocab] behind the last token, decoding with the tokens [batch, n] in its caches).

    last: the last token of each row by its place among all, `last_places`; given where arrays lie on a device.
    """
    batch, n = tokens.shape
    caches, freqs, position = decoding
    below = transformer.trunk(ops, config, parameters, tokens, freqs, caches, position)
    last = last_places(batch, n) if last is None else last
    logits = ops.gemm(ops.embedding(below.normed, last), parameters["lm_head"])
    return logits, Decoding(below.caches, freqs, position + n)


def last_places(batch: int, n: int) -> Array:
    """Where the last token of each row of [batch, n] lies: int32 [batch]."""
    return np.arange(n - 1, batch * n, n, dtype=np.int32)


def seeds(seed: int, step: int, batch: int) -> Array:
    """One well-mixed seed per row and step (the samplers' own mixing does not part neighbours): uint64 [batch]."""
    return np.array([random.stream(seed, "token", step, row) for row in range(batch)], np.uint64)
