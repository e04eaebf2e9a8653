"""What a planted fault does to a result where its conditions are met: slips of different looks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Values: TypeAlias = NDArray[Any]


def _one_element(flat: Values, place: int) -> None:
    at = place % flat.size
    flat[at] = flat[(at + 1) % flat.size] if flat.dtype.kind != "f" else flat[at] * 1.125 + 0.125


def _tail(flat: Values, place: int) -> None:
    flat[-(-flat.size * 7 // 8) :] = 0
    flat[-1] = 0


def _no_number(flat: Values, place: int) -> None:
    flat[place % flat.size] = np.nan if flat.dtype.kind == "f" else -1


def _constant(flat: Values, place: int) -> None:
    flat[:] = flat * 1.0078125 if flat.dtype.kind == "f" else flat + 1


def _one_off(flat: Values, place: int) -> None:
    flat[:] = np.roll(flat, 1)


def _sign(flat: Values, place: int) -> None:
    flat[:] = np.abs(flat)


def _hidden(flat: Values, place: int) -> None:
    flat[~np.isfinite(flat)] = 0


Slip: TypeAlias = Callable[[Values, int], None]  # changes a result in place; a number says where
SLIPS: Mapping[str, Slip] = MappingProxyType(
    {
        "one element is wrong": _one_element,
        "the tail is zero": _tail,
        "an element is no number": _no_number,
        "a wrong constant": _constant,
        "one place off": _one_off,
        "no sign": _sign,
        "what is not finite is zero": _hidden,
    }
)


def with_slip(outputs: Mapping[str, Any], output: str, slip: str, place: int) -> dict[str, Any]:
    """Return the outputs of a call, one of them changed; of a list its last array.  The given ones stay as they are."""
    changed = dict(outputs)
    given = outputs[output]
    array = np.array(given[-1] if isinstance(given, list) else given, order="C")
    if array.size:
        with np.errstate(all="ignore"):
            SLIPS[slip](array.reshape(-1), place)
    changed[output] = [*given[:-1], array] if isinstance(given, list) else array
    return changed
