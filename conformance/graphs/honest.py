"""Honest engines: the same step with everything that an engine may order otherwise ordered otherwise.

None of them may be told that it is wrong: neither for the order of the sums inside of operations, nor for that in which
the parts of a gradient are added.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from conformance import operations
from conformance.variants.honest import Implementation
from reference import random
from reference.namespace import Namespace

from .step import Part, Results, Step
from .task import Task


class Carried(Namespace):
    """The operations as an implementation carries them out."""

    def __init__(self, way: Implementation, seed: int) -> None:
        self._call_of = way.of(seed)

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        function = operations.OPERATIONS[operation]
        arguments = operations.signature(function).named(args, named)
        given = {name: value for name, value in arguments.items() if value is not None}
        arguments |= operations.typed(function, given)
        outputs = tuple(operations.gathered(function, self._call_of(operation, arguments)).values())
        return outputs[0] if len(outputs) == 1 else outputs


class Honest(Step):
    """A step by an implementation; parts of gradients are added in an order drawn by the seed."""

    def __init__(self, way: Implementation, task: Task, seed: int) -> None:
        super().__init__(Carried(way, seed), task, lambda array: array.astype(np.float32))
        self._seed = seed

    def total(self, name: str, parts: Sequence[Part]) -> Any:
        order = random.permutation(random.stream("order of parts", self._seed, name), len(parts))
        total = np.array(parts[order[0]].array)
        for place in order[1:]:
            total = total + parts[place].array
        return total


def honest(way: Implementation, task: Task, seed: int) -> Results:
    """Return what an honest engine hands in, by name."""
    results = Honest(way, task, seed).run()
    return {name: np.asarray(array, np.float32) for name, array in results.items() if name in task.known}
