"""What a framework's tensors can be: how many axes they have, and how they repeat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Any

from conformance.kernels import MapError

MOST_AXES = 32  # the header's
ONE_AT_A_TIME, NOT_SUPPORTED = "one at a time", "not supported"
_WORDS = {
    "repeats": ("stride 0", "length 1"),
    "several_axes": (ONE_AT_A_TIME, NOT_SUPPORTED),
    "returns": ("void", "int"),
}


@dataclass(frozen=True)
class Settings:
    """The keys of [framework], each of which a table may change for its operation.

    least_axes, most_axes: a tensor of fewer gets axes of length 1 before its first, one of more is not supported.
    empty: whether tensors without an element are.  repeats: whether a repeated axis has its whole length and stride 0,
    or length 1.  keeps_axis: whether a reduced axis stays, with length 1.  several_axes: how they are reduced.
    returns: what functions return, nothing or a code that is 0 where all went well.
    """

    least_axes: int = 0
    most_axes: int = MOST_AXES
    empty: bool = True
    repeats: str = _WORDS["repeats"][0]
    keeps_axis: bool = True
    several_axes: str = ONE_AT_A_TIME
    returns: str = _WORDS["returns"][0]


KEYS = tuple(field.name for field in fields(Settings))


def changed(where: str, settings: Settings, table: Mapping[str, Any]) -> Settings:
    """Return the settings with what a table says of them.  Raises MapError."""
    found = replace(settings, **{key: _checked(where, key, value) for key, value in table.items()})
    if found.least_axes > found.most_axes:
        raise MapError(f"{where}: expected least_axes <= most_axes, got {found.least_axes} and {found.most_axes}")
    return found


def _checked(where: str, key: str, value: Any) -> Any:
    if key not in KEYS:
        raise unknown(where, key, KEYS)
    if key in _WORDS:
        is_right, expected = value in _WORDS[key], f"one of {', '.join(_WORDS[key])}"
    elif isinstance(getattr(Settings, key), bool):
        is_right, expected = isinstance(value, bool), "true or false"
    else:
        whole = isinstance(value, int) and not isinstance(value, bool)
        is_right, expected = whole and 0 <= value <= MOST_AXES, f"a number from 0 to {MOST_AXES}"
    if not is_right:
        raise MapError(f"{where}.{key}: expected {expected}, got {value!r}")
    return value


def unknown(where: str, word: Any, known: tuple[str, ...]) -> MapError:
    """The error for a word that is none of those known."""
    near = get_close_matches(str(word), known, 1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return MapError(f"{where}.{word}: expected one of {', '.join(known)}, got {word!r}{hint}")
