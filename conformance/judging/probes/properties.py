"""Which properties of which operations can be probed."""

from __future__ import annotations

import functools
from collections.abc import Callable

from conformance.catalogue.cases import CASES
from conformance.catalogue.families import products
from conformance.ids import PROBE
from conformance.operations import OPERATIONS, written_arrays

from .channels import carries, sums
from .functions import shown_by
from .units import is_product

PROPERTIES = {
    "inputs": "digits that the factors of a product keep",
    "output": "digits that a result keeps",
    "accumulator": "digits that a sum keeps",
    "rounding": "how a sum is rounded",
    "matrix_unit": "which matrix unit forms sums of products",
    "flush_to_zero": "whether subnormal numbers become zero",
    "functions": "units in the last place that functions err by",
    "deterministic": "whether repeated calls give the same bits",
}


def probe_ids(wanted: Callable[[str], bool] = lambda id: True) -> tuple[str, ...]:
    """Return the id of every probe that is wanted: probe/OPERATION/PROPERTY.

    Only for these it is found out on the reference whether there is such a probe.
    """
    possible = ((operation, name, f"{PROBE}{operation}/{name}") for operation in OPERATIONS for name in PROPERTIES)
    return tuple(id for operation, name, id in possible if wanted(id) and name in _properties(operation))


@functools.cache
def _properties(operation: str) -> list[str]:
    found = []
    if carries(operation):
        found += ["inputs" if operation in products() else "output", "flush_to_zero"]
    if sums(operation):
        found.append("accumulator")
        found += ["rounding"] * (
            any(channel.is_exact for channel in sums(operation)) and not _is_stored_short(operation)
        )
    if is_product(operation):
        found.append("matrix_unit")
    if shown_by(operation):
        found.append("functions")
    if CASES.of(operation):
        found.append("deterministic")
    return [name for name in PROPERTIES if name in found]


def _is_stored_short(operation: str) -> bool:
    """Whether a result is stored in 16 bits, where how its sum was rounded can no longer be seen."""
    return any(parameter.type.is_half for parameter in written_arrays(OPERATIONS[operation]))
