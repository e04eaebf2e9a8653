"""Wrong readings of pooling."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from reference.arrays import Array
from reference.ops import pooling as ops

from .reading import Given, Reading, fed, giving


@dataclass(frozen=True)
class Windows:
    """Windows as somebody reads them: what each covers, by row and by column, padding outside of the plane."""

    rows: Array  # (out_h, kernel_h)
    columns: Array  # (out_w, kernel_w)
    height: int
    width: int

    @property
    def inside(self) -> Array:
        """(out_h, out_w, kernel): what of them is no padding."""
        rows = (self.rows >= 0) & (self.rows < self.height)
        columns = (self.columns >= 0) & (self.columns < self.width)
        return _flat(rows[:, None, :, None] & columns[None, :, None, :])

    @property
    def places(self) -> Array:
        """(out_h, out_w, kernel): where in the plane that is; of padding what lies next to it."""
        rows, columns = np.clip(self.rows, 0, self.height - 1), np.clip(self.columns, 0, self.width - 1)
        return _flat(rows[:, None, :, None] * self.width + columns[None, :, None, :])

    def of(self, planes: Array, padding: float) -> Array:
        """(batch, channels, out_h, out_w, kernel): what they hold."""
        held = planes.reshape(*planes.shape[:2], -1)[..., self.places]
        return np.where(self.inside, held, planes.dtype.type(padding))


def _flat(pairs: Array) -> Array:
    return pairs.reshape(*pairs.shape[:2], -1)


def windows(g: Given, shape: tuple[int, ...], as_read: Mapping[str, str]) -> Windows:
    """Return the windows of a call on planes of a shape.

    as_read: which argument is taken for another; "no" stands for 0.
    """

    def covered(side: str, size: int) -> Array:
        names = {name: f"{name}_{side}" for name in ("kernel", "stride", "pad")}
        kernel, stride, pad = (g[name] for name in names.values())
        count = (size + 2 * pad - kernel) // stride + 1
        read = {name: as_read.get(own, own) for name, own in names.items()}
        kernel, stride, pad = (0 if other == "no" else g[other] for other in read.values())
        return np.arange(count)[:, None] * stride - pad + np.arange(kernel)

    return Windows(covered("h", shape[2]), covered("w", shape[3]), shape[2], shape[3])


def _max_read(as_read: Mapping[str, str], padding: float = -np.inf, last: bool = False) -> Callable[..., Any]:
    """Max pooling with windows read otherwise, padded otherwise, or with the last of equal ones."""

    def change(_: Any, g: Given) -> tuple[Array, Array]:
        read = windows(g, g["input"].shape, as_read)
        held = read.of(g["input"], padding)
        chosen = np.argmax(held[..., ::-1] if last else held, axis=-1)[..., None]
        chosen = held.shape[-1] - 1 - chosen if last else chosen
        places = np.take_along_axis(read.places[None, None], chosen, axis=-1)[..., 0]
        return np.take_along_axis(held, chosen, axis=-1)[..., 0], places.astype(np.int32)

    return giving(ops.max_pool2d, change)


def _last_nan(results: Any, g: Given) -> tuple[Array, Array]:
    """Of several NaN in a window the place of the last."""
    read = windows(g, g["input"].shape, {})
    missing = np.isnan(read.of(g["input"], 0.0))
    last = missing.shape[-1] - 1 - np.argmax(missing[..., ::-1], axis=-1)
    places = np.take_along_axis(read.places[None, None], last[..., None], axis=-1)[..., 0]
    return results[0], np.where(missing.any(axis=-1), places, results[1]).astype(np.int32)


def _at_the_corner(*axes: str) -> Callable[..., Any]:
    """Of windows that hold -infinity alone the place of their first row or column, where that lies in the padding."""

    def change(results: Any, g: Given) -> tuple[Array, Array]:
        output, places = results
        _, _, height, width = g["input"].shape
        read = windows(g, g["input"].shape, {})
        rows, columns = read.rows[:, :1], read.columns[None, :, 0]
        rows = rows if "h" in axes else np.clip(rows, 0, height - 1)
        columns = columns if "w" in axes else np.clip(columns, 0, width - 1)
        return output, np.where(np.isneginf(output), rows * width + columns, places).astype(np.int32)

    return giving(ops.max_pool2d, change)


def _placed(place: Callable[[Array, Array, Given], Array]) -> Callable[..., Any]:
    """Max pooling whose places are counted otherwise: place(row, column, arguments)."""

    def change(results: Any, g: Given) -> tuple[Array, Array]:
        rows, columns = np.divmod(results[1], g["input"].shape[3])
        return results[0], np.asarray(place(rows, columns, g)).astype(np.int32)

    return giving(ops.max_pool2d, change)


def _in_window(rows: Array, columns: Array, g: Given) -> Array:
    _, _, down, across = rows.shape
    first_row = (np.arange(down) * g["stride_h"] - g["pad_h"])[:, None]
    first_column = np.arange(across) * g["stride_w"] - g["pad_w"]
    return (rows - first_row) * g["kernel_w"] + columns - first_column


def _in_padded_plane(rows: Array, columns: Array, g: Given) -> Array:
    return (rows + g["pad_h"]) * (g["input"].shape[3] + 2 * g["pad_w"]) + columns + g["pad_w"]


def _in_whole_array(rows: Array, columns: Array, g: Given) -> Array:
    batch, channels, height, width = g["input"].shape
    planes = np.arange(batch * channels).reshape(batch, channels, 1, 1)
    return (planes * height + rows) * width + columns


def _without_nan(g: Given) -> Array:
    return np.where(np.isnan(g["input"]), g["input"].dtype.type(-np.inf), g["input"])


def _mean_read(as_read: Mapping[str, str]) -> Callable[..., Any]:
    """Average pooling with windows read otherwise."""

    def change(_: Any, g: Given) -> Array:
        read = windows(g, g["input"].shape, as_read)
        counts = np.maximum(np.sum(read.inside, axis=-1), 1)
        divisor = read.inside.shape[-1] if g["count_include_pad"] else counts
        return np.sum(read.of(g["input"], 0.0), axis=-1) / np.asarray(divisor, g["input"].dtype)

    return giving(ops.avg_pool2d, change)


def _largest(_: Any, g: Given) -> Array:
    return ops.max_pool2d(**{name: value for name, value in g.items() if name != "count_include_pad"})[0]


def area(g: Given) -> float:
    """How many numbers a window has."""
    return float(g["kernel_h"] * g["kernel_w"])


def _sides(name: str, other: str) -> Mapping[str, str]:
    return {f"{name}_h": f"{other}_h", f"{name}_w": f"{other}_w"}


_BEFORE_ANY = "The place is set before any number is looked at, and -infinity is no larger than what it began with."
_SIDE_BY_SIDE, _NOT_PADDED = _sides("stride", "kernel"), {"pad_h": "no", "pad_w": "no"}
_OTHER_STRIDE = {"stride_h": "stride_w", "stride_w": "stride_h"}
_OTHER_KERNEL = {"kernel_h": "kernel_w", "kernel_w": "kernel_h"}
_WAYS = (
    ("stride taken as the kernel", "Windows lie side by side, as they do where no stride is given.", _SIDE_BY_SIDE),
    ("strides exchanged", "The width's stride is taken for the height's.", _OTHER_STRIDE),
    ("kernel's sides exchanged", "The width stands first.", _OTHER_KERNEL),
    ("begins without padding", "The first window begins with the plane.", _NOT_PADDED),
)
_PLACES = (
    ("places in the window", "A place is counted from its window's start.", _in_window),
    ("places in the padded plane", "Padding is counted in.", _in_padded_plane),
    ("places in the whole array", "The planes before are counted in.", _in_whole_array),
    ("places by columns", "A place is w * height + h.", lambda h, w, g: w * g["input"].shape[2] + h),
)

READINGS = (
    *(Reading("max_pool2d", name, why, _max_read(as_read)) for name, why, as_read in _WAYS),
    *(Reading("max_pool2d", name, why, _placed(place)) for name, why, place in _PLACES),
    Reading(
        "max_pool2d", "last of equal ones", "A number as large as the one before takes its place.",
        _max_read({}, last=True),
    ),
    Reading("max_pool2d", "padding as zeros", "The plane is padded by zeros, which are compared.", _max_read({}, 0.0)),
    Reading(
        "max_pool2d", "maximum begins at zero", "No number below 0 is seen.",
        giving(ops.max_pool2d, lambda r, g: (np.maximum(r[0], 0), r[1])),
    ),
    Reading(
        "max_pool2d", "-infinity alone: the window's first place, in padding or not", _BEFORE_ANY,
        _at_the_corner("h", "w"),
    ),
    Reading(
        "max_pool2d", "-infinity alone: the window's first column, in padding or not", _BEFORE_ANY,
        _at_the_corner("w"),
    ),
    Reading(
        "max_pool2d", "last of several NaN", "Each NaN takes the place of the one before, as PyTorch has it.",
        giving(ops.max_pool2d, _last_nan),
    ),
    Reading("max_pool2d", "NaN passed over", "No number is less.", fed(ops.max_pool2d, input=_without_nan)),
    *(Reading("avg_pool2d", name, why, _mean_read(as_read)) for name, why, as_read in _WAYS),
    Reading(
        "avg_pool2d", "count_include_pad the other way round", "Padding counts where it is not to, and the reverse.",
        fed(ops.avg_pool2d, count_include_pad=lambda g: 1 - g["count_include_pad"]),
    ),
    Reading(
        "avg_pool2d", "not divided", "The sum is taken for the mean.",
        giving(fed(ops.avg_pool2d, count_include_pad=lambda g: 1), lambda r, g: r * area(g)),
    ),
    Reading(
        "avg_pool2d", "largest in place of the mean", "Both poolings share a kernel.", giving(ops.avg_pool2d, _largest)
    ),
)  # fmt: skip
