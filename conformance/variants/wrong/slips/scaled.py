"""Slips of a scalar that multiplies a sum: it comes to some of the terms alone."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from conformance import operations

from .slip import CUTS, Slip


def of_terms(operation: str, arguments: Mapping[str, Any]) -> Iterator[Slip]:
    """A factor of the first array along whose axis is summed, with which the scalar is left out from a place on."""
    function = operations.OPERATIONS[operation]
    written = [{axis.size.text for axis in p.shape} for p in operations.written_arrays(function)]
    factors = {
        name: arguments[name] for name in operations.scalars(function) if name in operations.float_scalars(function)
    }
    for parameter in (p for p in operations.read_arrays(function) if not p.each and arguments[p.name] is not None):
        shape, nouns = arguments[parameter.name].shape, operations.axis_names(operation, parameter.name)
        if arguments[parameter.name].dtype.kind != "f" or len(nouns) != len(shape):
            continue
        for axis, (noun, count) in enumerate(zip(nouns, shape, strict=True)):
            if any(parameter.shape[axis].size.text in names for names in written):
                continue
            for name, factor in factors.items():
                for cut in (cut for cut in CUTS if cut < count and factor not in (0, 1) and np.isfinite(factor)):
                    words = f"{name} left out of the terms from {noun} {cut} of {parameter.name} on"
                    yield Slip(words, (parameter.name,), functools.partial(_divided, axis, cut, float(factor)))


def _divided(axis: int, cut: int, factor: float, x: Any) -> Any:
    shape = [-1 if other == axis else 1 for other in range(len(x.shape))]
    divisor = np.where(np.arange(x.shape[axis]) < cut, 1.0, factor).reshape(shape)
    return x / divisor.astype(x.dtype)
