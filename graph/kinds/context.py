"""What a record knows of the pass it is evaluated in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bindings import DeviceArray
from reference.arrays import Array
from reference.namespace import Ops

_SHARE = 2**40  # blocks of four numbers of the generator that each record has to itself in a step


def philox_of(seed: int, step: int, stream: int) -> Any:
    """Return key and offset that a record draws by in a step, the stream being its number: uint64 (2,).

    The key is seed * 2^32 + step, each modulo 2^32; the offset is stream * 2^40, modulo 2^64: up to 2^24 records, no
    two of them, no two steps and no two seeds share a block.
    """
    return np.array([(seed % 2**32) << 32 | step % 2**32, stream * _SHARE % 2**64], np.uint64)


@dataclass(frozen=True)
class Context:
    """One record in one pass. number: the record's; draws: another source of key and offset, for a captured pass."""

    training: bool = True
    seed: int = 0
    step: int = 0
    number: int = 0
    draws: Callable[[int], Array] | None = None

    def philox(self, beside: Array, stream: int) -> Array:
        """Key and offset of what a record draws, the stream being its number, in an array that lies beside another."""
        if self.draws is not None:
            return self.draws(stream)
        return beside_array(philox_of(self.seed, self.step, stream), beside)


def beside_array(host: Any, beside: Array) -> Array:
    """A host array where another lies."""
    return beside.memory.array(host) if isinstance(beside, DeviceArray) else host


def copied(ops: Ops, array: Array) -> Array:
    """An array that an operation may update, as it does with its arguments in a library and not in the reference."""
    if isinstance(array, DeviceArray):
        return ops.scale(array.reshape(-1), 1.0).reshape(array.shape)
    return np.copy(array) if isinstance(array, np.ndarray) else array


def counted(labels: Array) -> int:
    """How many class numbers count: those that are not negative. Waits for labels that lie on a device."""
    host = labels.to_host() if isinstance(labels, DeviceArray) else labels
    return int(np.count_nonzero(host >= 0))
