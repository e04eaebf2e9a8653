"""What a function of a module has returned, read: names that mean something, and arrays of any framework."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import ForeignArrayError, as_numpy
from .raised import Raised

_NAMED = 3  # unknown names that a sentence quotes


def refuse_unknown(where: str, returned: Mapping[Any, Any], known: Collection[str]) -> None:
    """Raise Raised where a dict has names that mean nothing here."""
    unknown = [str(name) for name in returned if name not in known]
    if not unknown:
        return
    more = f" and {len(unknown) - _NAMED} more" if len(unknown) > _NAMED else ""
    near = get_close_matches(unknown[0], known, 1)
    hint = f"; did you mean {near[0]}?" if near else ""
    first = f"the names of the parameters ({', '.join([*known][:_NAMED])} ...)"
    expected = first if where else f"some of {', '.join(known)}"
    raise Raised(f"{where}returned {', '.join(unknown[:_NAMED])}{more}, expected {expected}{hint}")


def array_of(name: str, value: Any) -> NDArray[Any]:
    """Return a result as a dense array of NumPy's.  Raises Raised, which names it, for one that is none."""
    try:
        array = as_numpy(value)
    except ForeignArrayError as error:
        raise Raised(f"returned {error} for {name}, expected an array on the CPU") from None
    if array.dtype.hasobject:
        raise Raised(f"returned {name} as an array of objects, expected one of float32")
    return np.ascontiguousarray(array).reshape(array.shape)


def kind_of(value: Any) -> str:
    """What a value is, in a word."""
    return "nothing" if value is None else type(value).__name__
