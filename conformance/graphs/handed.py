"""What an engine has handed in for a task, and what of it can be judged at all."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.candidates.poison import POISON

from .task import Shape, Task, TaskError

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Handed:
    """Results by name, as they came; again: those of a second run on other poison, None where there was one run."""

    arrays: Arrays
    again: Arrays | None = None
    printed: str = ""  # what the engine printed
    beside: tuple[str, ...] = ()  # what else it did: changed inputs, wrote beside arrays
    known: Mapping[str, Shape] = field(default_factory=dict)

    def unwritten(self, name: str) -> int:
        """How many numbers of an array are still those that it held before the call."""
        array = self.arrays[name]
        if array.dtype != np.float32:
            return 0
        left = _is_poison(array, 1)
        if self.again is not None and name in self.again and self.again[name].shape == array.shape:
            left &= _is_poison(self.again[name], 2)
        return int(np.count_nonzero(left))

    def is_unwritten(self, name: str) -> bool:
        """Whether nothing of an array was written."""
        return 0 < self.arrays[name].size == self.unwritten(name)

    def without(self, names: Collection[str]) -> Handed:
        """The same, as if these results had not come."""
        return replace(self, arrays={name: array for name, array in self.arrays.items() if name not in names})

    def varies(self, name: str) -> bool:
        """Whether a second run gave other bits, beside what neither has written."""
        if self.again is None or name not in self.again or self.unwritten(name):
            return False
        return self.again[name].tobytes() != self.arrays[name].tobytes()

    def is_usable(self, name: str) -> bool:
        """Whether records behind it can be judged on it: it is there, of the right type and shape, and all numbers."""
        array = self.arrays.get(name)
        fits = array is not None and array.shape == self.known[name] and array.dtype == np.float32
        return fits and bool(np.isfinite(array).all())  # type: ignore[arg-type]


def _is_poison(array: NDArray[Any], run: int) -> NDArray[np.bool_]:
    left: NDArray[np.bool_] = np.ascontiguousarray(array).view(np.uint32) == np.frombuffer(POISON[run] * 4, np.uint32)
    return left


def handed(
    task: Task, came: Arrays, again: Arrays | None = None, printed: str = "", beside: Iterable[str] = ()
) -> Handed:
    """Return what came.  Raises TaskError for a name that is none of the task's results."""
    for name in came:
        if name not in task.known:
            near = get_close_matches(name, task.known, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise TaskError(f"{name}: expected one of the {len(task.known)} results of {task.name}, got another{hint}")
    return Handed(dict(came), again, printed, tuple(beside), task.known)
