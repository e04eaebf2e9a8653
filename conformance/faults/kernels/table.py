"""Every fault of the kernels, and which faults cannot be planted in them."""

from __future__ import annotations

from . import attention, elementwise, products, rows

FAULTS = (*elementwise.FAULTS, *rows.FAULTS, *products.FAULTS, *attention.FAULTS)
