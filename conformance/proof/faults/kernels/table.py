"""Every fault of the kernels, and which faults cannot be planted in them."""

from __future__ import annotations

from . import (
    activations,
    attention,
    dropout,
    elementwise,
    indices,
    losses,
    norms,
    planes,
    products,
    rows,
    sixteen,
    threads,
)

FAMILIES = (elementwise, rows, norms, dropout, products, attention, indices, threads, sixteen)

FAMILIES = (elementwise, rows, products, attention, indices, threads, sixteen, activations)

FAMILIES = (elementwise, rows, products, attention, indices, planes, threads, sixteen)

FAMILIES = (elementwise, rows, losses, products, attention, indices, threads, sixteen)
from . import attention, convolution, elementwise, indices, products, recurrent, rows, sixteen, threads

FAMILIES = (elementwise, rows, products, attention, indices, threads, recurrent, sixteen)

FAMILIES = (elementwise, rows, products, attention, indices, convolution, threads, sixteen)
FAULTS = tuple(fault for family in FAMILIES for fault in family.FAULTS)
