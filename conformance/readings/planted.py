"""What is planted: the readings stated by hand beside the operations, and those made of every operation alike."""

from __future__ import annotations

import functools

from reference.readings import READINGS, Reading


@functools.cache
def planted(operation: str) -> tuple[Reading, ...]:
    """Return every wrong reading of an operation."""
    return tuple(reading for reading in READINGS if reading.operation == operation)


def by_id(operation: str, id: str) -> Reading:
    """Return one of them."""
    return next(reading for reading in planted(operation) if reading.id == id)
