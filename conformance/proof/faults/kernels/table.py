"""Every fault of the kernels, and which faults cannot be planted in them."""

from __future__ import annotations

from . import attention, convolution, elementwise, indices, products, rows, sixteen, threads

FAMILIES = (elementwise, rows, products, attention, indices, convolution, threads, sixteen)
FAULTS = tuple(fault for family in FAMILIES for fault in family.FAULTS)
