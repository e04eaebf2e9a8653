"""Calls of the full-size catalogue at sizes that a test can afford, laid out in the same way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import reference
from conformance import operations
from conformance.catalogue.full import FullCall, layout
from conformance.catalogue.full.call import Drawn, axes_of
from conformance.limits.expectation import Expected, rounded

Outputs = dict[str, NDArray[Any]]
_LENGTHS = {  # of the axes that are long
    **{"n": 300, "rows": 150, "cols": 70, "hidden_dim": 48, "batch_seq": 150, "vocab_size": 70, "num_indices": 90},
    **{"embedding_dim": 40, "M": 90, "N": 80, "K": 50, "seq_len": 40, "tokens": 100, "size": 300, "max_seq_len": 60},
    **{"head_dim": 16, "q_len": 20, "kv_len": 30, "kv_capacity": 40, "new_len": 5, "position": 3, "offset": 7},
}


def shrunk(call: FullCall) -> FullCall:
    """The call at small sizes, with fewer members along each axis than places."""
    sizes = {name: min(_LENGTHS.get(name, value), value) for name, value in call.sizes.items() if name != "sizes"}
    if "sizes" in call.sizes:
        sizes["sizes"] = tuple(min(150, length) for length in call.sizes["sizes"])
    lengths = {**sizes, "sizes": 150}
    drawn = {axis: members if members < lengths[axis] else lengths[axis] // 3 for axis, members in call.drawn.items()}
    return replace(call, sizes=sizes, drawn=drawn)


def computed(call: FullCall, drawn: Drawn) -> Outputs:
    """What the reference makes of the laid-out arguments in float32, as the judge holds outputs."""
    with np.errstate(all="ignore"):
        results = getattr(reference, call.operation)(**drawn.whole())
    function = operations.OPERATIONS[call.operation]
    flat = operations.gathered(function, operations.flat(operations.by_name(function, results)))
    return {name: operations.widened(array) for name, array in operations.flat(flat).items()}


def laid_out(call: FullCall, drawn: Drawn, small: Mapping[str, Any]) -> dict[str, Any]:
    """Arrays of the outputs' small shapes, laid out at their full size."""
    function, found = operations.OPERATIONS[call.operation], {}
    for name, array in small.items():
        parameter = operations.declared(function, name)
        places = call.placed(parameter.name, drawn.places)
        axes, scaled = axes_of(parameter, operations.place_in_list(name)), call.axes_scaling(parameter.name)
        found[name] = np.asarray(layout.laid_out(array, axes, places, scaled))
    return found


def right(call: FullCall, drawn: Drawn, expected: Expected) -> Outputs:
    """The outputs of an implementation that rounds each result once."""
    return laid_out(call, drawn, operations.narrowed(call.operation, rounded(expected)))
