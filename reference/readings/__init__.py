"""The named wrong readings of every operation: small functions with the operation's own arguments, in tables.

They prove that the judge's cases can tell, put a name to a failure, and document the contract.
"""

from __future__ import annotations

from . import (
    activations,
    adamw,
    attention,
    attention_backward,
    batchnorm,
    broadcast,
    convolution,
    decode,
    dense,
    dense_backward,
    dropout,
    elementwise,
    embedding,
    entropies,
    gelu,
    gemm,
    layernorm,
    loss,
    losses,
    moe,
    norm,
    optimizer,
    pooling,
    pooling_backward,
    recurrent,
    recurrent_backward,
    rope,
    selection,
    sequence,
    sixteen,
    softmax,
    tempered,
    updates,
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
    *losses.READINGS,
    *entropies.READINGS,
    *adamw.READINGS,
    *updates.READINGS,
    *optimizer.READINGS,
    *embedding.READINGS,
    *decode.READINGS,
    *convolution.READINGS,
    *broadcast.READINGS,
    *dense.READINGS,
    *dense_backward.READINGS,
    *selection.READINGS,
    *layernorm.READINGS,
    *batchnorm.READINGS,
    *dropout.READINGS,
    *activations.READINGS,
    *gelu.READINGS,
    *tempered.READINGS,
    *pooling.READINGS,
    *pooling_backward.READINGS,
    *sequence.READINGS,
    *recurrent.READINGS,
    *recurrent_backward.READINGS,
)
READINGS = (*_FLOAT32, *sixteen.readings(_FLOAT32))
