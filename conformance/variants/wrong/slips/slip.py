"""A slip: one or some arguments of a call, and what they are read as."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

Change = Callable[[Any], Any]
CUTS = tuple(2**n for n in range(3, 18))  # where a loop, a table or a short index may end


class Slip(NamedTuple):
    """What becomes of some arguments, and how that is said."""

    words: str
    names: Sequence[str]
    change: Change
