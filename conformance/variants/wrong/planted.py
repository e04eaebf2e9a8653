"""What is planted: the readings stated by hand beside the operations, and those made of every operation alike."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator

from reference.readings import READINGS, Reading

from .arithmetic import arithmetic
from .constants import constants
from .launches import launches


@functools.cache
def known(operation: str) -> tuple[Reading, ...]:
    """Return the readings that a candidate is compared with; one that is stated by hand is not made once more."""
    stated = [reading for reading in READINGS if reading.operation == operation]
    made = itertools.chain(arithmetic(operation), constants(operation))
    return (*stated, *_further(made, {reading.name for reading in stated}))


@functools.cache
def planted(operation: str) -> tuple[Reading, ...]:
    """Return every wrong reading of an operation; what is not written is told by its place, not by comparison."""
    return (*known(operation), *launches(operation))


def by_id(operation: str, id: str) -> Reading:
    """Return one of them."""
    return next(reading for reading in planted(operation) if reading.id == id)


def _further(readings: Iterator[Reading], stated: set[str]) -> Iterator[Reading]:
    return (reading for reading in readings if reading.name not in stated)
