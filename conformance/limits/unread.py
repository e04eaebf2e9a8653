"""What may go unread: what it is multiplied by is zero.

The results of a port that reads it and of one that does not differ where it is NaN or infinite.  The header leaves that
open: such results are unknown, and no library is judged by them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import reference
from conformance import operations

from .noise import Noisy, given_up


def leave_open(operation: str, arguments: Mapping[str, Any], expected: dict[str, Any]) -> None:
    """Give up what depends on whether alpha * A . B is computed where alpha is 0."""
    if arguments.get("alpha") != 0 or not {"A", "B"} <= arguments.keys():
        return
    function = operations.OPERATIONS[operation]
    unread = {name: np.zeros(arguments[name].shape) for name in ("A", "B")}
    values = operations.ordered(function, {**arguments, **unread})
    given = [np.asarray(v, np.float64) if isinstance(v, np.ndarray) else v for v in values]
    give_up_differing(operation, given, expected)


def give_up_differing(operation: str, given: Sequence[Any], expected: dict[str, Any]) -> None:
    """Give up what is expected where the reference, on the arguments given, in order, comes to anything that is not
    finite and that, or the other way round."""
    with np.errstate(all="ignore"):
        results = getattr(reference, operations.base_of(operation))(*given)
    others = operations.flat(operations.by_name(operations.OPERATIONS[operation], results))
    for name, value in expected.items():
        if isinstance(value, Noisy):
            other = np.asarray(others[name])
            same = (
                (np.isfinite(value.v) & np.isfinite(other)) | (value.v == other) | np.isnan(value.v) & np.isnan(other)
            )
            expected[name] = given_up(value, ~same)
