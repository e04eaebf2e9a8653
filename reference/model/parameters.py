"""The parameters of the model: their names, order, shapes and start.

A model's parameters are a dict of arrays by name, and so are its gradients and its optimiser's moments.  An expert's
gate, up and down are tensors of their own, but a layer holds each of the three stacked over its experts, as the grouped
products read them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from reference import random
from reference.arrays import Array

from .config import Config

Parameters = dict[str, Array]

INITIAL_DEVIATION = 0.02


class Layer(NamedTuple):
    """What one layer holds: its parameters or their gradients."""

    attn_norm: Array  # [hidden]
    w_q: Array  # [q_heads * head_dim, hidden]
    w_k: Array  # [kv_heads * head_dim, hidden]
    w_v: Array  # [kv_heads * head_dim, hidden]
    w_o: Array  # [hidden, q_heads * head_dim]
    ffn_norm: Array  # [hidden]
    router: Array  # [experts, hidden]
    gate: Array  # [experts, ffn, hidden]
    up: Array  # [experts, ffn, hidden]
    down: Array  # [experts, hidden, ffn]


class Tensor(NamedTuple):
    """One tensor of the model: where it is held, and its place in the stack if it is an expert's."""

    name: str
    shape: tuple[int, ...]
    held: str
    expert: int | None = None

    @property
    def decays(self) -> bool:
        """Weight decay is for tensors of two dimensions or more, so not for the norms."""
        return len(self.shape) >= 2

    def of(self, parameters: Parameters) -> Array:
        """This tensor's array, a view of what is held."""
        held = parameters[self.held]
        return held if self.expert is None else held[self.expert]


def layer(parameters: Parameters, index: int) -> Layer:
    """The arrays of one layer."""
    return Layer(*(parameters[f"layers.{index}.{field}"] for field in Layer._fields))


def named_layer(index: int, arrays: Layer) -> Parameters:
    """The other way round: one layer's arrays by their names."""
    return {f"layers.{index}.{field}": array for field, array in arrays._asdict().items()}


def held_shapes(config: Config) -> dict[str, tuple[int, ...]]:
    """Name and shape of every array a model holds, in canonical order."""
    h, f, e = config.hidden, config.ffn, config.experts
    queries, keys = config.q_heads * config.head_dim, config.kv_heads * config.head_dim
    shapes = Layer(
        attn_norm=(h,), w_q=(queries, h), w_k=(keys, h), w_v=(keys, h), w_o=(h, queries),
        ffn_norm=(h,), router=(e, h), gate=(e, f, h), up=(e, f, h), down=(e, h, f),
    )  # fmt: skip
    held: dict[str, tuple[int, ...]] = {"embedding": (config.vocab, h)}
    for index in range(config.layers):
        held |= named_layer(index, shapes)
    return held | {"final_norm": (h,), "lm_head": (config.vocab, h)}


def tensors(config: Config) -> Iterator[Tensor]:
    """Every tensor in canonical order; of a layer's experts each has its gate, up and down in turn."""
    for held, shape in held_shapes(config).items():
        prefix, _, field = held.rpartition(".")
        if field not in ("gate", "up", "down"):
            yield Tensor(held, shape, held)
        elif field == "gate":
            yield from _expert_tensors(config, prefix)


def _expert_tensors(config: Config, prefix: str) -> Iterator[Tensor]:
    wide, narrow = (config.ffn, config.hidden), (config.hidden, config.ffn)
    for expert in range(config.experts):
        for field, shape in (("gate", wide), ("up", wide), ("down", narrow)):
            yield Tensor(f"{prefix}.experts.{expert}.{field}", shape, f"{prefix}.{field}", expert)


def count(config: Config, *, active: bool = False) -> int:
    """How many parameters the model has; active: how many of them one token meets."""
    met = [t for t in tensors(config) if not active or t.expert is None or t.expert < config.top_k]
    return sum(math.prod(t.shape) for t in met)


def initialise(
    config: Config, seed: int, dtype: DTypeLike = np.float64, deviation: float = INITIAL_DEVIATION
) -> Parameters:
    """Norms 1, weights normal with the given deviation, each tensor from its own stream of the seed.

    What is added to the residual stream (w_o, down) is divided by sqrt(2 * layers), so that the stream's variance does
    not grow with depth (GPT-2).  Every value is exact in float32: models of any precision start at the same point.
    """
    parameters = {name: np.ones(shape, dtype) for name, shape in held_shapes(config).items()}
    for tensor in tensors(config):
        if tensor.decays:
            residual = tensor.held.endswith((".w_o", ".down"))
            scale = deviation / math.sqrt(2 * config.layers) if residual else deviation
            values = random.normal(random.stream(seed, tensor.name), tensor.shape)
            tensor.of(parameters)[...] = (values * scale).astype(np.float32)
    return parameters
