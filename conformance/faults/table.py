"""Every fault."""

from __future__ import annotations

from . import elementwise, memory, norm, optimizer, products

FAULTS = (*elementwise.FAULTS, *norm.FAULTS, *products.FAULTS, *optimizer.FAULTS, *memory.FAULTS)
