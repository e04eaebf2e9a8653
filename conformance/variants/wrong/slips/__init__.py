"""Readings made for one call, of its own arguments: one of them is read as something else that a slip would make of it.

Nobody has stated them, and no case has to tell them: they are what a failure is compared with where none of the
stated ones gives what came.  No size is changed, as another one gives outputs of another shape.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import reference
from conformance import operations
from conformance.variants.wrong.arithmetic import used_by
from reference.readings import Reading

from .scalars import of_scalars
from .scaled import of_terms
from .slip import Slip
from .values import of_arrays

# Hundreds of readings of a larger call take too long: elements; of what multiplies matrices the product of the sizes.
_WORK = 2**18
_LISTED = (
    320  # arrays of lists, times the square of how many lists are read: each is misread in turn, and all are computed
)
_WHY = "One of the arguments is read as something else."


def misreadings(operation: str, arguments: Mapping[str, Any], cuts: Sequence[int] = ()) -> Iterator[Reading]:
    """Yield what an operation gives with an argument read as something else, where that makes a difference.

    cuts: places at which a result goes wrong, where what is read may end as well.
    """
    call = operation, arguments
    for slip in itertools.chain(of_scalars(*call), of_arrays(*call, cuts), of_terms(*call)):
        if any(_differs(slip.change(arguments[name]), arguments[name]) for name in slip.names):
            yield Reading(operation, slip.words, _WHY, _called(operation, slip))


def are_affordable(operation: str, arguments: Mapping[str, Any]) -> bool:
    """Return whether there are such readings of a call, and few enough elements and arrays to try them all."""
    sizes, read = operations.sizes(operation, arguments), operations.read_arrays(operations.OPERATIONS[operation])
    lists = [len(arguments[parameter.name]) for parameter in read if parameter.each]
    if lists and max(lists) * len(lists) ** 2 > _LISTED:
        return False
    axes = {axis.size.text for parameter in read for axis in parameter.shape}
    if used_by(operation)["matmul"]:
        return math.prod(max(1, size) for name, size in sizes.items() if name in axes) <= _WORK
    return sum(int(np.size(array)) for p in read for array in _arrays(arguments[p.name])) <= _WORK


def _arrays(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [] if given is None else [given]


def _called(operation: str, slip: Slip) -> Callable[..., Any]:
    function = getattr(reference, operation)

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        given = inspect.signature(function).bind(*args, **kwargs).arguments
        return function(**{**given, **{name: slip.change(given[name]) for name in slip.names}})

    return called


def _differs(changed: Any, given: Any) -> bool:
    if isinstance(given, list):
        return any(map(_differs, changed, given))
    return not np.array_equal(changed, given, equal_nan=np.asarray(given).dtype.kind == "f")
