"""A usual number in place of an argument: what a kernel does whose author never saw another value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

import reference
from conformance import operations
from reference.readings import Reading
from reference.readings.reading import Given, fed

# What stands in published code where the argument should.
USUAL: Mapping[str, tuple[float, ...]] = MappingProxyType(
    {
        "eps": (1e-8, 1e-6, 1e-5),
        "beta1": (0.9,),
        "beta2": (0.95, 0.999),
        "weight_decay": (0.01, 0.1),
        "clip_norm": (1.0,),
        "base": (1e4,),
        "temperature": (1.0,),
        "scale": (0.125,),
    }
)


def constants(operation: str) -> Iterator[Reading]:
    """Yield the operation with each usual number in place of each of its scalars; 16-bit forms have it in float32."""
    if operations.is_sixteen_bit(operation):
        return
    function = getattr(reference, operation)
    for name in operations.scalars(operations.OPERATIONS[operation]):
        for number in USUAL.get(name, ()):
            why = "The number of one configuration stands in the kernel, and the argument is not read."
            yield Reading(operation, f"{name} taken as {number:g}", why, fed(function, **{name: _always(number)}))


def _always(number: float) -> Callable[[Given], float]:
    return lambda given: number
