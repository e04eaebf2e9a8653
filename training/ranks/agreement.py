"""What all ranks of a run have to have in common: settings at its start, every parameter at any time."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from .interface import Array, Ranks


class RanksError(Exception):
    """The processes of a run do not go together; the message says which, and in what."""


def agree(ranks: Ranks, what: str, settings: Mapping[str, Any]) -> None:
    """See that every rank has the same settings. Raises RanksError, on all ranks alike."""
    first, *others = ranks.gather(dict(settings))
    for rank, theirs in enumerate(others, start=1):
        for name in {**first, **theirs}:
            if first.get(name) != theirs.get(name):
                raise RanksError(f"{what}: {name}: rank {rank} has {theirs.get(name)!r}, rank 0 {first.get(name)!r}")


def check_equal(ranks: Ranks, what: str, arrays: Mapping[str, Array]) -> None:
    """See that every rank holds the same arrays, bit for bit, by their hashes. Raises RanksError, on all ranks alike.

    The hash costs about a second per gigabyte and rank, and eight bytes per array are sent.
    """
    if ranks.size == 1:
        return
    first, *others = ranks.gather({name: _hash(array) for name, array in arrays.items()})
    for rank, theirs in enumerate(others, start=1):
        different = [name for name, value in first.items() if theirs.get(name) != value]
        if different or theirs.keys() != first.keys():
            named = [*different, *(theirs.keys() - first.keys())]
            more = f" and {len(named) - 1} more" if len(named) > 1 else ""
            raise RanksError(f"{what}: rank {rank} does not hold what rank 0 holds: {named[0]}{more} differ in bits")


def _hash(array: Array) -> bytes:
    return hashlib.blake2b(np.ascontiguousarray(array).data.cast("B"), digest_size=8).digest()
