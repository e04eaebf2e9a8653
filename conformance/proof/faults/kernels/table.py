"""Every fault of the kernels, and which faults cannot be planted in them."""

from __future__ import annotations

from . import attention, elementwise, indices, products, recurrent, rows, sixteen, threads

FAMILIES = (elementwise, rows, products, attention, indices, threads, recurrent, sixteen)
FAULTS = tuple(fault for family in FAMILIES for fault in family.FAULTS)
