"""Pooling over windows of planes, NCHW: the largest number of each and the mean, with their gradients."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from reference.arrays import Array, check, check_indices, check_same_shape, ieee


class Side(NamedTuple):
    """One side of the planes and of the windows on them."""

    size: int
    kernel: int
    stride: int
    pad: int

    @property
    def windows(self) -> int:
        """How many windows there are: those that are filled, padding counted in."""
        return (self.size + 2 * self.pad - self.kernel) // self.stride + 1

    @property
    def covered(self) -> Array:
        """(windows, kernel): what each window covers, by index; padding lies below 0 and from size on."""
        return np.arange(self.windows)[:, None] * self.stride - self.pad + np.arange(self.kernel)

    @property
    def inside(self) -> Array:
        """(windows, kernel): which of them are no padding."""
        return (self.covered >= 0) & (self.covered < self.size)

    @property
    def nearest(self) -> Array:
        """(windows, kernel): what each window covers, in place of padding what lies next to it."""
        return np.clip(self.covered, 0, self.size - 1)

    @property
    def covering(self) -> Array:
        """(size, kernel): the windows that cover each index; -1 in place of one that is none."""
        from_first = np.arange(self.size)[:, None] + self.pad - np.arange(self.kernel)
        window = from_first // self.stride
        return np.where((from_first % self.stride == 0) & (window >= 0) & (window < self.windows), window, -1)


@ieee
def max_pool2d(
    input: Array, kernel_h: int, kernel_w: int, stride_h: int, stride_w: int, pad_h: int, pad_w: int
) -> tuple[Array, Array]:
    """The largest number of each window, and where in its plane it lies: h * width + w, the first of equal ones.

    input: (batch, channels, height, width).  Returns output and int32 places: (batch, channels, out_h, out_w), out_h =
    (height + 2 * pad_h - kernel_h) // stride_h + 1.  NaN counts as the largest.  Raises ValueError where a window has
    no size, does not fit into the padded plane, or is padded by more than half of it.

    In place of padding stands the number next to it: the window holds it too, and places still ascend.
    """
    rows, columns = _sides("max_pool2d", input.shape, kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w)
    _check_places("max_pool2d", rows, columns)
    within = _flat(rows.nearest, columns.nearest, columns.size)
    windows = np.take(_planes(input), within, axis=1)
    chosen = np.argmax(windows, axis=-1)[..., None]
    places = np.take_along_axis(within[None], chosen, axis=-1)[..., 0]
    shape = (*input.shape[:2], rows.windows, columns.windows)
    output = np.take_along_axis(windows, chosen, axis=-1)
    return output.reshape(shape), places.astype(np.int32).reshape(shape)


@ieee
def max_pool2d_backward(
    d_output: Array, places: Array, height: int, width: int,
    kernel_h: int, kernel_w: int, stride_h: int, stride_w: int, pad_h: int, pad_w: int,
) -> Array:  # fmt: skip
    """d_input: 0, and at each place the sum of d_output over the windows that name it.

    d_output, places: (batch, channels, out_h, out_w), as of max_pool2d.  Returns (batch, channels, height, width).
    """
    check_same_shape("max_pool2d_backward", d_output=d_output, places=places)
    shape = (*d_output.shape[:2], height, width)
    rows, columns = _sides("max_pool2d_backward", shape, kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w)
    _check_places("max_pool2d_backward", rows, columns)
    _check_windows("max_pool2d_backward", d_output, rows, columns)
    check_indices("max_pool2d_backward", "places", places, height * width)
    planes = np.arange(places.shape[0] * places.shape[1], dtype=np.int64).reshape(*places.shape[:2], 1, 1)
    flat = (places + planes * (height * width)).reshape(-1)
    order = np.argsort(flat, kind="stable")
    named, starts = np.unique(flat[order], return_index=True)
    sums = np.add.reduceat(np.take(d_output.reshape(-1), order), starts)
    slot = np.full(planes.size * height * width, len(named))  # which sum an element receives; a zero for none
    slot[named] = np.arange(len(named))
    return np.take(np.concatenate([sums, np.zeros_like(sums[:1])]), slot).reshape(shape)


@ieee
def avg_pool2d(
    input: Array, kernel_h: int, kernel_w: int, stride_h: int, stride_w: int, pad_h: int, pad_w: int,
    count_include_pad: int,
) -> Array:  # fmt: skip
    """The sum of each window by its size (count_include_pad = 1), or by how many of its places lie in input (0).

    input: (batch, channels, height, width).  Returns (batch, channels, out_h, out_w), as max_pool2d.
    """
    rows, columns = _sides("avg_pool2d", input.shape, kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w)
    divisor = _divisor("avg_pool2d", rows, columns, count_include_pad, input)
    values = np.take(_planes(input), _flat(rows.nearest, columns.nearest, columns.size), axis=1)
    terms = np.where(_both(rows.inside, columns.inside), values, np.zeros_like(divisor)[..., None])
    return (np.sum(terms, axis=-1) / divisor).reshape(*input.shape[:2], rows.windows, columns.windows)


@ieee
def avg_pool2d_backward(
    d_output: Array, height: int, width: int,
    kernel_h: int, kernel_w: int, stride_h: int, stride_w: int, pad_h: int, pad_w: int, count_include_pad: int,
) -> Array:  # fmt: skip
    """d_input: the sum over the windows that cover a place of d_output, by avg_pool2d's divisor; 0 where none does.

    d_output: (batch, channels, out_h, out_w).  Returns (batch, channels, height, width).
    """
    shape = (*d_output.shape[:2], height, width)
    rows, columns = _sides("avg_pool2d_backward", shape, kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w)
    divisor = _divisor("avg_pool2d_backward", rows, columns, count_include_pad, d_output)
    _check_windows("avg_pool2d_backward", d_output, rows, columns)
    shares = _planes(d_output / divisor)
    covers = _both(rows.covering >= 0, columns.covering >= 0)
    none = rows.windows * columns.windows  # the column of zeros
    covering = np.where(covers, _flat(rows.covering, columns.covering, columns.windows), none)
    terms = np.take(np.concatenate([shares, np.zeros_like(shares[:, :1])], axis=1), covering, axis=1)
    return np.sum(terms, axis=-1).reshape(shape)


def _sides(
    operation: str, shape: tuple[int, ...],
    kernel_h: int, kernel_w: int, stride_h: int, stride_w: int, pad_h: int, pad_w: int,
) -> tuple[Side, Side]:  # fmt: skip
    """The rows' side and the columns' one, checked."""
    rows, columns = Side(shape[2], kernel_h, stride_h, pad_h), Side(shape[3], kernel_w, stride_w, pad_w)
    for name, side in (("h", rows), ("w", columns)):
        most = side.size + 2 * side.pad
        check(side.kernel >= 1, operation, f"kernel_{name}", "at least 1", side.kernel)
        check(side.stride >= 1, operation, f"stride_{name}", "at least 1", side.stride)
        check(0 <= 2 * side.pad <= side.kernel, operation, f"pad_{name}", "0 or up to half of the kernel", side.pad)
        check(side.kernel <= most, operation, f"kernel_{name}", f"at most the padded size, {most}", side.kernel)
    return rows, columns


def _check_places(operation: str, rows: Side, columns: Side) -> None:
    size = rows.size * columns.size
    check(size < 2**31, operation, "height * width", "at most 2147483647: places are int32", size)


def _check_windows(operation: str, d_output: Array, rows: Side, columns: Side) -> None:
    due = (*d_output.shape[:2], rows.windows, columns.windows)
    check(d_output.shape == due, operation, "d_output", f"the shape {due}", d_output.shape)


def _divisor(operation: str, rows: Side, columns: Side, count_include_pad: int, model: Array) -> Any:
    """(out_h, out_w): what each window's sum is divided by, in the precision of the model."""
    check(count_include_pad in (0, 1), operation, "count_include_pad", "0 or 1", count_include_pad)
    counts = [np.sum(side.inside | (count_include_pad == 1), axis=1) for side in (rows, columns)]
    return np.multiply.outer(*counts).astype(model.dtype)


def _planes(array: Array) -> Array:
    return array.reshape(array.shape[0] * array.shape[1], -1)


def _both(rows: Array, columns: Array) -> Array:
    """(n, m, k * l): where both hold, of (n, k) and (m, l)."""
    pairs = rows[:, None, :, None] & columns[None, :, None, :]
    return pairs.reshape(len(rows), len(columns), -1)


def _flat(rows: Array, columns: Array, width: int) -> Array:
    """(n, m, k * l): row * width + column, of (n, k) and (m, l)."""
    pairs = rows[:, None, :, None] * width + columns[None, :, None, :]
    return pairs.reshape(len(rows), len(columns), -1)
