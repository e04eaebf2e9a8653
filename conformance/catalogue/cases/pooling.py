"""Cases of pooling, and of its gradients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from conformance.catalogue.factors import Design
from conformance.catalogue.facts import Facts

from .data import Array, Draw
from .spec import Maker, Sizes, Spec, sizes

NAMES = "batch channels height width kernel_h kernel_w stride_h stride_w pad_h pad_w"
EVERY = sizes(
    NAMES,
    (1, 1, 1, 2, 1, 2, 1, 1, 0, 0),
    (1, 2, 3, 2, 6, 6, 1, 1, 2, 2),
    (2, 3, 7, 6, 3, 2, 2, 1, 1, 1),
    (1, 2, 14, 14, 3, 3, 2, 2, 1, 1),
    (2, 5, 12, 12, 2, 2, 2, 2, 0, 0),
    (1, 3, 9, 33, 3, 3, 1, 1, 1, 1),
    (3, 2, 5, 31, 1, 5, 1, 3, 0, 2),
    (2, 2, 17, 9, 5, 4, 7, 5, 2, 2),
    (3, 7, 7, 7, 7, 7, 1, 1, 0, 0),
    (1, 2, 4, 6, 2, 1, 1, 1, 1, 0),
)
TAILS = sizes(
    NAMES,
    (1, 1, 3, 1030, 3, 2, 1, 2, 1, 0),
    (1, 1, 2, 1040, 2, 3, 1, 1, 0, 0),
    (1, 2, 260, 5, 2, 3, 1, 1, 1, 1),
    (5, 61, 4, 4, 2, 2, 2, 2, 1, 1),
    (1, 2, 5, 67, 4, 8, 1, 1, 0, 4),
    (1, 3, 10, 11, 4, 3, 3, 2, 0, 0),
)
SOME, PADDED = EVERY[2:6], [row for row in (*EVERY, *TAILS) if row["pad_h"] and row["pad_w"]]
BEGIN_IN_PADDING = sizes(NAMES, (1, 1, 2, 6, 2, 5, 1, 1, 0, 2))  # several windows do
PAST_16_BITS = sizes(NAMES, (1, 1, 2, 33000, 2, 3, 2, 3, 0, 0))
# Rows of as many numbers as a step is wide take no memory that there is.
FAR_STEPS = sizes(NAMES, (1, 2, 65, 3, 2, 3, 1, 2**31 - 1, 0, 0), (1, 2, 65, 9, 65, 2, 2**31 - 1, 3, 0, 0))


def _counted(rows: list[dict[str, Any]], *values: int) -> list[dict[str, Any]]:
    """Every row with these values of count_include_pad, by turns where there is but one."""
    return [{**row, "count_include_pad": value} for i, row in enumerate(rows) for value in values or (i % 2,)]


def windows(sizes: Sizes, side: str) -> tuple[Array, Array]:
    """Return of each window along a side the first index that is no padding, and the one behind the last."""
    length = sizes[{"h": "height", "w": "width"}[side]]
    kernel, stride, pad = (sizes[f"{name}_{side}"] for name in ("kernel", "stride", "pad"))
    starts = np.arange((length + 2 * pad - kernel) // stride + 1) * stride - pad
    return np.maximum(starts, 0), np.minimum(starts + kernel, length)


def _places(share: float | None) -> Maker:
    """Places of which each lies in its window: so far into it along both sides, or anywhere."""

    def make(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
        found = []
        for side, axes in (("h", (-1, 1)), ("w", (1, -1))):
            first, end = (edge.reshape(axes) for edge in windows(sizes, side))
            into = draw.of(side).uniform(shape) if share is None else np.full(shape, share)
            found.append(np.minimum(first + np.floor(into * (end - first)).astype(np.int64), end - 1))
        return np.asarray(found[0] * sizes["width"] + found[1])

    return make


def _nothing(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Minus infinity everywhere: a place is due all the same, and padding is none."""
    return np.full(shape, -np.inf)


ANYWHERE, _FIRST, _LAST = _places(None), _places(0.0), _places(1.0)
_CHOSEN = {"places": ANYWHERE}
_MIXED = {"exact": SOME, "range": SOME, "cancel": SOME, "special": SOME[:2]}
_OF_MEANS = {data: _counted(rows) for data, rows in ({"tails": TAILS, **_MIXED, "swamp": SOME}).items()}

SPECS = (
    Spec("max_pool2d", {"plain": EVERY, "tails": TAILS, "range": SOME, "special": SOME, "large": SOME[:1]}),
    Spec("max_pool2d", {"exact": EVERY, "degenerate": SOME}, why="the_first_of_equals"),
    Spec("max_pool2d", {"negative": PADDED, "lowest": PADDED[:3]}, why="padding_is_never_chosen"),
    Spec("max_pool2d", {"masked": [*PADDED, *BEGIN_IN_PADDING]}, {"input": _nothing}, why="nothing_but_minus_infinity"),
    Spec("max_pool2d", {"plain": PAST_16_BITS}, why="places_past_16_bits"),
    Spec("max_pool2d", {"plain": FAR_STEPS}, why="one_window_and_a_step_past_any_memory"),
    Spec("max_pool2d_backward", {"plain": EVERY, "tails": TAILS, **_MIXED}, _CHOSEN),
    Spec("max_pool2d_backward", {"plain": SOME}, {"places": _FIRST}, why="first_of_each_window"),
    Spec("max_pool2d_backward", {"plain": SOME}, {"places": _LAST}, why="last_of_each_window"),
    Spec("max_pool2d_backward", {"plain": PAST_16_BITS}, _CHOSEN, why="places_past_16_bits"),
    *(
        Spec(operation, {"plain": _counted(EVERY, 0, 1), **_OF_MEANS})
        for operation in ("avg_pool2d", "avg_pool2d_backward")
    ),
)

# The first pooling of a residual network (He et al. 2016), and the halving of one behind it.
_FIRST_POOL = {
    **{"batch": 2, "channels": 64, "height": 112, "width": 112},
    **{"kernel_h": 3, "kernel_w": 3, "stride_h": 2, "stride_w": 2, "pad_h": 1, "pad_w": 1},
}
_MEANS = {**_FIRST_POOL, "count_include_pad": 0}
_ALONE = {"pad_h": 0, "pad_w": 0}
_COUNTED_ALONE = {**_ALONE, "count_include_pad": 1}
FACTS = (
    Facts("max_pool2d", _FIRST_POOL, neutral=_ALONE, bounded=True),
    Facts("max_pool2d_backward", _FIRST_POOL, neutral=_ALONE),
    Facts("avg_pool2d", _MEANS, neutral=_COUNTED_ALONE, bounded=True),
    Facts("avg_pool2d_backward", _MEANS, neutral=_COUNTED_ALONE),
)

# By the number of windows along each side, and how far the plane goes on behind the last.
_FACTORS = {
    "batch": (1, 2, 3, 17),
    "channels": (1, 2, 3, 8, 65),
    **{"height": (), "width": (), "pad_h": (), "pad_w": ()},
    "kernel_h": (3, 2, 1, 4, 5, 7),
    "kernel_w": (3, 2, 1, 4, 5, 8, 17),
    "stride_h": (1, 2, 3, 5),
    "stride_w": (1, 2, 3, 4, 9),
    "windows_h": (1, 2, 3, 7, 14, 16, 33, 65, 257),
    "windows_w": (1, 2, 3, 4, 7, 8, 9, 14, 15, 16, 17, 28, 31, 32, 33, 63, 64, 65, 127, 129, 257, 513, 1025),
    "padding_h": (0, 1, 2),
    "padding_w": (0, 1, 2),
    "rest_h": (0, 1, 3),
    "rest_w": (0, 1, 3),
}
_COUNTING = {"count_include_pad": (0, 1)}


def _planes(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Planes that so many windows fit into.  padding: none, one, or half of the kernel."""
    found = dict(row)
    for side, size in (("h", "height"), ("w", "width")):
        kernel, stride, count = (row[f"{name}_{side}"] for name in ("kernel", "stride", "windows"))
        pad = (0, min(1, kernel // 2), kernel // 2)[row[f"padding_{side}"]]
        rest = min(row[f"rest_{side}"], stride - 1)
        found |= {f"pad_{side}": pad, size: max(1, (count - 1) * stride + kernel - 2 * pad + rest)}
    return found


def _work(sizes: Sizes) -> float:
    """What of all windows is added up or compared."""
    across = sizes["windows_w"] * sizes["kernel_w"]
    return float(sizes["batch"] * sizes["channels"] * sizes["windows_h"] * sizes["kernel_h"] * across)


_NAMED: dict[str, str | Maker] = {"any": ANYWHERE, "first": _FIRST, "last": _LAST}
DESIGNS = (
    Design("max_pool2d", _FACTORS, derive=_planes, work=_work),
    Design("max_pool2d_backward", _FACTORS, arrays={"places": _NAMED}, derive=_planes, work=_work),
    Design("avg_pool2d", _FACTORS, _COUNTING, derive=_planes, work=_work),
    Design("avg_pool2d_backward", _FACTORS, _COUNTING, derive=_planes, work=_work),
)
