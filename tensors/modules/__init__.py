"""Modules: parts of networks with parameters by name, up to a decoder language model.

In: sizes, a seed, a namespace of operations, and the functions' form, composed or fused.
Out: modules; their state as a dict or a safetensors file.
Used by: who trains a network of tensors.
"""

from __future__ import annotations

from .attention import Attention
from .basic import Dropout, Embedding, LayerNorm, Linear, RMSNorm
from .decoder import Block, Decoder, Loss
from .feed_forward import FeedForward, MixtureOfExperts
from .module import Module, parameter

__all__ = [
    "Attention",
    "Block",
    "Decoder",
    "Dropout",
    "Embedding",
    "FeedForward",
    "LayerNorm",
    "Linear",
    "Loss",
    "MixtureOfExperts",
    "Module",
    "RMSNorm",
    "parameter",
]
