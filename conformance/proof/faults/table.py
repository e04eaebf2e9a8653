"""Every fault, and those that show a report at work."""

from __future__ import annotations

from collections.abc import Sequence

from . import (
    activations,
    attention_decode,
    attention_softmax,
    batchnorm,
    broadcast,
    convolution,
    corners,
    dropout,
    elementwise,
    fused_loss,
    gated,
    halves,
    layernorm,
    losses,
    memory,
    norm,
    optimizer,
    planes,
    products,
    recurrent,
    router_backward,
    sampling,
    sequences,
    sixteen,
    strided,
)
from .fault import Fault, FaultError

FAULTS = (
    *elementwise.FAULTS,
    *losses.FAULTS,
    *fused_loss.FAULTS,
    *norm.FAULTS,
    *products.FAULTS,
    *gated.FAULTS,
    *router_backward.FAULTS,
    *optimizer.FAULTS,
    *sampling.FAULTS,
    *layernorm.FAULTS,
    *batchnorm.FAULTS,
    *attention_decode.FAULTS,
    *attention_softmax.FAULTS,
    *dropout.FAULTS,
    *recurrent.FAULTS,
    *memory.FAULTS,
    *convolution.FAULTS,
    *sequences.FAULTS,
    *planes.FAULTS,
    *sixteen.FAULTS,
    *halves.FAULTS,
    *activations.FAULTS,
    *strided.FAULTS,
    *broadcast.FAULTS,
    *corners.FAULTS,
)
# One of each family, of different kinds, none of which reaches another's operations: they go into one library.
_TOGETHER = (
    "silu: one element past the end written",
    "softmax: maximum of the first block",
    "rmsnorm_residual_backward: residual dropped",
    "batched_gemm: first B for all",
    "attention: mask from the start",
    "expert_combine_backward: weights missing",
    "cross_entropy_forward: mean over all rows",
    "grad_clip: written before it is refused",
    "scatter_add: threads race",
    "argmax: a row too long for it",
    "rope_backward: not turned back",
)


def together(count: int) -> Sequence[Fault]:
    """Return so many faults that can stand in one library.  Raises FaultError where there are not so many."""
    if count > len(_TOGETHER):
        raise FaultError(f"expected at most {len(_TOGETHER)} faults to go together, got {count}")
    by_name = {fault.name: fault for fault in FAULTS}
    return [by_name[name] for name in _TOGETHER[:count]]
