"""Groups of an output's places that share a sum: rows, columns, and what one thread writes of a row."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from .failed import Array
from .parts import Part

_AT_ONCE = (1, 4)  # columns that a thread takes at once
_PARTS = tuple(2**n for n in range(15, 8, -1))  # columns of a part of a row that is computed by itself
_THREADS = tuple(2**n for n in range(1, 11))  # of a row: a few lanes, a warp, a block


def lines(part: Part) -> Iterator[tuple[str, Array]]:
    """Yield what the groups are, and the group of each place.

    The row is all axes but the last, then the column, then parts of a row, which an online softmax brings under the
    row's largest number one by one, then the threads of a row, each of which writes every so many columns: where a
    thread does not learn what the others have summed, its own sum shows in all that it writes.  Where there are two
    groups, two places for each, and two wrong ones for each that has any: a number of its own explains any single one.
    """
    if part.wrong.got.ndim < 2 or not part.is_noisy:
        return
    shape, index = part.wrong.got.shape, np.nonzero(part.at)
    rows, columns, bad = np.ravel_multi_index(index[:-1], shape[:-1]), index[-1], part.wrong.beyond[index]
    yield from _dense("row", rows, bad)
    yield from _dense(part.wrong.axes[-1], columns, bad)
    for length in _PARTS:  # the fewest groups that do
        if length < shape[-1]:
            parts = rows * -(-shape[-1] // length) + columns // length
            yield from _dense(f"part of a row, {length} columns long,", parts, bad)
    for threads, width in itertools.product(_THREADS, _AT_ONCE):  # likewise
        if 2 * threads * width <= shape[-1]:
            name = f"thread, which writes {width} of every {width * threads} columns of a row,"
            yield from _dense(name, rows * threads + columns // width % threads, bad)


def _dense(name: str, groups: Array, bad: Array) -> Iterator[tuple[str, Array]]:
    _, dense = np.unique(groups, return_inverse=True)
    has_room = dense.size >= 2 * (dense.max(initial=0) + 1) > 2
    if has_room and np.count_nonzero(bad) >= 2 * np.unique(dense[bad]).size:
        yield name, dense
