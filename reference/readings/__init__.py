"""The named wrong readings of every operation: small functions with the operation's own arguments, in tables.

They prove that the judge's cases can tell, put a name to a failure, and document the contract.
"""

from __future__ import annotations

from . import (
    adamw,
    attention,
    attention_backward,
    convolution,
    decode,
    elementwise,
    embedding,
    gemm,
    loss,
    moe,
    norm,
    optimizer,
    rope,
    selection,
    sixteen,
    softmax,
)
from .reading import Reading

__all__ = ["READINGS", "Reading"]

_FLOAT32: tuple[Reading, ...] = (
    *elementwise.READINGS,
    *softmax.READINGS,
    *norm.READINGS,
    *gemm.READINGS,
    *rope.READINGS,
    *attention.READINGS,
    *attention_backward.READINGS,
    *moe.READINGS,
    *loss.READINGS,
    *adamw.READINGS,
    *optimizer.READINGS,
    *embedding.READINGS,
    *decode.READINGS,
    *convolution.READINGS,
    *selection.READINGS,
)
READINGS = (*_FLOAT32, *sixteen.readings(_FLOAT32))
