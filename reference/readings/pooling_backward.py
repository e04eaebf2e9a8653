"""Wrong readings of pooling's gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from reference.arrays import Array
from reference.ops import pooling as ops

from .pooling import area, windows
from .reading import Given, Reading, fed, giving


def _last_of(places: Array, values: Array, shape: tuple[int, ...]) -> Array:
    """Planes of a shape: at each place the last of the values that go there, 0 where none does.

    places, values: (planes, n); a place behind the plane is none.
    """
    size, count = shape[2] * shape[3], places.shape[1]
    last = np.full((len(places), size + 1), count)  # which value stands at a place; a zero for none
    np.put_along_axis(last, places, np.arange(count)[None], axis=1)  # of repeated places the last one stays
    padded = np.concatenate([values, np.zeros_like(values[:, :1])], axis=1)
    return np.take_along_axis(padded, last[:, :size], axis=1).reshape(shape)


def _shape(g: Given) -> tuple[int, ...]:
    return (*g["d_output"].shape[:2], g["height"], g["width"])


def _max_assigned(_: Any, g: Given) -> Array:
    planes = g["places"].shape[0] * g["places"].shape[1]
    return _last_of(g["places"].reshape(planes, -1), g["d_output"].reshape(planes, -1), _shape(g))


def _averaged(results: Any, g: Given) -> Array:
    named = ops.max_pool2d_backward(**(g | {"d_output": np.ones_like(g["d_output"])}))
    return results / np.maximum(named, 1)


def _by_columns(g: Given) -> Array:
    columns, rows = np.divmod(g["places"], g["height"])
    return rows * g["width"] + columns


def _evenly(_: Any, g: Given) -> Array:
    rest = {name: value for name, value in g.items() if name != "places"}
    return ops.avg_pool2d_backward(**rest, count_include_pad=1)


def _one_too_many(results: Any, g: Given) -> Array:
    """Of each place also the window before the first that covers it, if there is one."""
    shape = _shape(g)
    inside = windows(g, shape, {}).inside
    divisor = np.full(inside.shape[:2], area(g)) if g["count_include_pad"] else np.sum(inside, axis=-1)

    def reached(side: str, size: int, count: int) -> Array:
        kernel, stride, pad = (g[f"{name}_{side}"] for name in ("kernel", "stride", "pad"))
        ahead = np.arange(size)[:, None] + pad - np.arange(count) * stride
        return ((ahead >= 0) & (ahead < kernel + stride)).astype(g["d_output"].dtype)

    shares = g["d_output"] / divisor.astype(g["d_output"].dtype)
    rows, columns = reached("h", shape[2], divisor.shape[0]), reached("w", shape[3], divisor.shape[1])
    return rows @ shares @ columns.T


def _past_the_last(*sides: str) -> Callable[[Any, Given], Array]:
    """Windows that begin in the plane and do not fit are taken for windows: of d_output what lies in memory where they
    would stand, the next row or plane, and 0 past its end."""

    def change(_: Any, g: Given) -> Array:
        d_output = g["d_output"]
        rows, columns = (
            _covers(
                g, side, size, count if side not in sides else (size - 1 + g[f"pad_{side}"]) // g[f"stride_{side}"] + 1
            )
            for side, size, count in zip("hw", (g["height"], g["width"]), d_output.shape[2:], strict=True)
        )
        counts = np.outer(np.sum(rows, axis=0), np.sum(columns, axis=0))
        divisor = np.full_like(counts, area(g)) if g["count_include_pad"] else np.maximum(counts, 1)
        places = np.arange(rows.shape[1])[:, None] * d_output.shape[3] + np.arange(columns.shape[1])
        of_planes = np.arange(d_output.shape[0] * d_output.shape[1]) * (d_output.shape[2] * d_output.shape[3])
        flat, dtype = d_output.reshape(-1), d_output.dtype
        memory = np.concatenate([flat, np.zeros_like(flat[:1])])
        read = np.take(memory, np.minimum(of_planes[:, None, None] + places, len(flat)))
        shares = read / divisor.astype(dtype)
        return (rows.astype(dtype) @ shares @ columns.T.astype(dtype)).reshape(_shape(g))

    return change


def _covers(g: Given, side: str, size: int, count: int) -> Array:
    """Whether a place of a side lies in a window: (size, count)."""
    ahead = np.arange(size)[:, None] + g[f"pad_{side}"] - np.arange(count) * g[f"stride_{side}"]
    return (ahead >= 0) & (ahead < g[f"kernel_{side}"])


def _first_plane(results: Any, g: Given) -> Array:
    """All planes' gradients in the first one."""
    planes = results.reshape(-1, g["height"] * g["width"])
    first = np.sum(planes, axis=0, keepdims=True)
    return np.concatenate([first, np.zeros_like(planes[1:])], axis=0).reshape(_shape(g))


def _means(as_read: Mapping[str, str]) -> Callable[[Any, Given], Array]:
    """Of the windows that cover a number, as they are read, the last one's share."""

    def change(_: Any, g: Given) -> Array:
        read = windows(g, _shape(g), as_read)
        counts = np.maximum(np.sum(read.inside, axis=-1, keepdims=True), 1)
        divisor = np.where(g["count_include_pad"], read.inside.shape[-1], counts).astype(g["d_output"].dtype)
        shares = np.repeat(g["d_output"][..., None] / divisor, read.inside.shape[-1], axis=-1)
        places = np.where(read.inside, read.places, g["height"] * g["width"]).reshape(1, -1)
        values = shares.reshape(-1, places.size)
        return _last_of(np.broadcast_to(places, values.shape), values, _shape(g))

    return change


READINGS = (
    Reading(
        "max_pool2d_backward", "assigned", "Where windows overlap, the last one's gradient overwrites the others'.",
        giving(ops.max_pool2d_backward, _max_assigned),
    ),
    Reading(
        "max_pool2d_backward", "mean over the windows that name a place", "Their gradients are averaged.",
        giving(ops.max_pool2d_backward, _averaged),
    ),
    Reading(
        "max_pool2d_backward", "places by columns", "A place is w * height + h.",
        fed(ops.max_pool2d_backward, places=_by_columns),
    ),
    Reading(
        "max_pool2d_backward", "first plane alone", "Places are taken for places in the whole array.",
        giving(ops.max_pool2d_backward, _first_plane),
    ),
    Reading(
        "max_pool2d_backward", "spread evenly", "The gradient of average pooling.",
        giving(ops.max_pool2d_backward, _evenly),
    ),
    Reading(
        "avg_pool2d_backward", "count_include_pad the other way round",
        "Padding counts where it is not to, and the reverse.",
        fed(ops.avg_pool2d_backward, count_include_pad=lambda g: 1 - g["count_include_pad"]),
    ),
    Reading(
        "avg_pool2d_backward", "one window too many", "The first that covers a place is rounded down, not up.",
        giving(ops.avg_pool2d_backward, _one_too_many),
    ),
    *(
        Reading(
            "avg_pool2d_backward", f"windows past the last {name}", "What begins in the plane is taken for a window.",
            giving(ops.avg_pool2d_backward, _past_the_last(*sides)),
        )
        for name, sides in (("row", "h"), ("column", "w"), ("row and column", "hw"))
    ),
    Reading(
        "avg_pool2d_backward", "not divided", "The sum's gradient is taken for the mean's.",
        giving(fed(ops.avg_pool2d_backward, count_include_pad=lambda g: 1), lambda r, g: r * area(g)),
    ),
    Reading(
        "avg_pool2d_backward", "assigned", "Where windows overlap, the last one's gradient overwrites the others'.",
        giving(ops.avg_pool2d_backward, _means({})),
    ),
    Reading(
        "avg_pool2d_backward", "stride taken as the kernel", "Windows are taken to lie side by side.",
        giving(ops.avg_pool2d_backward, _means({"stride_h": "kernel_h", "stride_w": "kernel_w"})),
    ),
)  # fmt: skip
