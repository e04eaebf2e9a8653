"""The header's numbers for functions, by name: ASSAYER_MAP_EXP is MAPS["exp"]."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from bindings import read_header

from .errors import TensorError


def _numbers(kind: str) -> dict[str, int]:
    prefix, constants = f"ASSAYER_{kind}_", read_header().constants
    return {name.removeprefix(prefix).lower(): c.value for name, c in constants.items() if name.startswith(prefix)}


MAPS, ZIPS, REDUCTIONS = _numbers("MAP"), _numbers("ZIP"), _numbers("REDUCE")


def number(operation: str, numbers: Mapping[str, int], name: str) -> int:
    """Return a function's number; raises TensorError for a name that there is not."""
    if name not in numbers:
        near = get_close_matches(name, numbers, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise TensorError(f"{operation}: expected one of {', '.join(numbers)}, got {name}{hint}")
    return numbers[name]
