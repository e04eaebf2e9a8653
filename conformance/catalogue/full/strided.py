"""Strided tensors at full size: rows and columns are drawn, and a storage holds them wherever its strides say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.catalogue.cases.data import Draw
from conformance.catalogue.cases.spec import Sizes
from conformance.catalogue.cases.strided_calls import MAPS, REDUCTIONS, ZIPS
from conformance.catalogue.full_model import HIDDEN

from .call import Arranged, FullCall
from .places import Places, shuffled

ROWS, COLUMNS, FEW_ROWS, FEW_COLUMNS = 2048, HIDDEN, 61, 37
WHY = "2,048 rows of 768: with 8,192 the places alone of each storage's elements are 50 MB"
Whole = NDArray[np.int64]
# How a storage lies, by the axes of the call: the one that is closest comes last.
Order = tuple[str, ...]


def _strides(order: Order, axes: Order, lengths: Mapping[str, int]) -> Whole:
    """The strides of a storage that lies in this order; 0 along an axis that it has not."""
    steps, step = {}, 1
    for axis in reversed(order):
        steps[axis] = step
        step *= lengths[axis]
    return np.array([steps.get(axis, 0) for axis in axes], np.int64)


def _members(order: Order, few: Mapping[str, int], places: Mapping[str, Places]) -> Places:
    """Which place of the small storage stands at each of the large one."""
    member = np.zeros(1, np.int64)
    for axis in order:
        member = (member[:, None] * few[axis] + places[axis].member).reshape(-1)
    return Places(member)


def _placed(draw: Draw, length: int, members: int) -> Places:
    """Where the members of an axis stand; one that is drawn whole stands as it was drawn."""
    return Places(np.arange(length)) if members == length else shuffled(draw, length, members)


def _arranged(axes: Order, storages: Mapping[str, Order]) -> Callable[[Sizes, Sizes, Draw], Arranged]:
    """What is told of tensors with these axes, and where their storages hold what was drawn."""

    def arrange(small: Sizes, full: Sizes, draw: Draw) -> Arranged:
        places = {axis: _placed(draw.of(axis), full[axis], small[axis]) for axis in axes}
        few, many = (np.array([sizes[axis] for axis in axes]) for sizes in (small, full))
        given: dict[str, tuple[Whole, Whole]] = {"shape": (few, many)}
        along: dict[str, Places] = {}
        for name, order in storages.items():
            shown = axes[: len(axes) - ("depth" in axes)] if name == "output" else axes
            given[f"{name}_strides"] = (_strides(order, shown, small), _strides(order, shown, full))
            along[f"{name}_size"] = _members(order, small, places)
        return given, along

    return arrange


def _call(
    operation: str,
    lengths: Mapping[str, tuple[int, int]],
    storages: Mapping[str, Order],
    variant: str = "",
    why: str = WHY,
    **numbers: Any,
) -> FullCall:
    """A call whose axes are so long, at full size and drawn."""
    axes = tuple(lengths)
    full, few = ({axis: both[i] for axis, both in lengths.items()} for i in (0, 1))
    drawn = {axis: members for axis, members in few.items() if members < full[axis]}
    sizes: dict[str, Any] = {**full, "axes": len(axes), **numbers}
    for name, order in storages.items():
        sizes |= {f"{name}_size": _product(order, full), f"{name}_offset": 0}
        drawn[f"{name}_size"] = _product(order, few)
    return FullCall(operation, sizes, drawn, arrange=_arranged(axes, storages), variant=variant, why=why)


def _product(order: Order, lengths: Mapping[str, int]) -> int:
    return int(np.prod([lengths[axis] for axis in order]))


# More elements than a cache holds, and than what is copied at a time: past 2^22, by a number of its own.
_LONG, _FEW = 2**22 + 2**11 + 3, 997
_PAST = "past 4 million elements results are stored past the caches, and copies made in parts; the last is no whole one"
_N = {"columns": (_LONG, _FEW)}
_EACH = {"rows": (6, 5), "columns": (2**20 + 2**11 + 3, _FEW)}
_BATCH = {"batch": (5, 5), "rows": (1025, FEW_ROWS), "columns": (1021, FEW_COLUMNS), "depth": (3, 3)}
_R, _C = (ROWS, FEW_ROWS), (COLUMNS, FEW_COLUMNS)
_PLANE, _TURNED = ("rows", "columns"), ("columns", "rows")

CALLS = (
    _call("map_strided", {"rows": _R, "columns": _C}, {"input": _TURNED, "output": _PLANE}, function=MAPS["gelu"]),
    _call(
        "zip_strided",
        {"rows": _R, "columns": _C},
        {"a": _PLANE, "b": ("columns",), "output": _TURNED},
        function=ZIPS["multiply"],
    ),
    _call(
        "reduce_strided",
        {"rows": _R, "depth": (COLUMNS, COLUMNS)},
        {"input": ("depth", "rows"), "output": ("rows",)},
        kept=1,
        function=REDUCTIONS["sum"],
        start=0.5,
    ),
    _call(
        "matmul_strided",
        {"rows": _R, "columns": _C, "depth": (COLUMNS, COLUMNS)},
        {"a": ("rows", "depth"), "b": ("depth", "columns"), "output": _PLANE},
    ),
    _call(
        "map_strided",
        _N,
        {"input": ("columns",), "output": ("columns",)},
        "past_4_million",
        _PAST,
        function=MAPS["square"],
    ),
    _call(
        "zip_strided",
        _N,
        {"a": ("columns",), "b": ("columns",), "output": ("columns",)},
        "past_4_million",
        _PAST,
        function=ZIPS["subtract"],
    ),
    _call(
        "zip_strided",
        _EACH,
        {"a": _PLANE, "b": ("rows",), "output": _PLANE},
        "one_number_past_4_million",
        "a row is joined with one number, and results are stored past the caches",
        function=ZIPS["subtract"],
    ),
    _call(
        "matmul_strided",
        _BATCH,
        {"a": ("batch", "rows", "depth"), "b": ("batch", "depth", "columns"), "output": ("rows", "columns", "batch")},
        "past_4_million",
        _PAST,
    ),
)
