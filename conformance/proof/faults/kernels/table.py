"""Every fault of the kernels, and which faults cannot be planted in them."""

from __future__ import annotations

from . import (
    activations,
    attention,
    attention_softmax,
    attention_units,
    attention_units_fp16,
    broadcast,
    convolution,
    dropout,
    elementwise,
    fused_loss,
    gated,
    indices,
    losses,
    matrix,
    matrix_before_sm_80,
    norms,
    planes,
    products,
    recurrent,
    router_backward,
    rows,
    sixteen,
    strided,
    threads,
)

FAMILIES = (
    elementwise,
    rows,
    losses,
    fused_loss,
    norms,
    dropout,
    products,
    matrix,
    matrix_before_sm_80,
    gated,
    router_backward,
    attention,
    attention_softmax,
    attention_units,
    attention_units_fp16,
    indices,
    convolution,
    planes,
    threads,
    recurrent,
    sixteen,
    activations,
    strided,
    broadcast,
)

FAULTS = tuple(fault for family in FAMILIES for fault in family.FAULTS)
