"""Every fault of the kernels, and which faults cannot be planted in them."""

from __future__ import annotations

from . import (
    activations,
    attention,
    attention_softmax,
    attention_units,
    broadcast,
    convolution,
    dropout,
    elementwise,
    gated,
    indices,
    losses,
    matrix,
    norms,
    planes,
    products,
    recurrent,
    rows,
    sixteen,
    strided,
    threads,
)

FAMILIES = (
    elementwise,
    rows,
    losses,
    norms,
    dropout,
    products,
    matrix,
    gated,
    attention,
    attention_softmax,
    attention_units,
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
