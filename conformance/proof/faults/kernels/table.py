"""Every fault of the kernels, and which faults cannot be planted in them."""

from __future__ import annotations

from . import attention, elementwise, indices, losses, products, rows, sixteen, threads

FAMILIES = (elementwise, rows, losses, products, attention, indices, threads, sixteen)
FAULTS = tuple(fault for family in FAMILIES for fault in family.FAULTS)
