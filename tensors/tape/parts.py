"""Gradients that are 0 but where a view lies: they are added up in one place, not each as large as what was viewed."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable

from tensors.creation import zeros
from tensors.layout import Layout, Shape, dense
from tensors.tensor import Tensor


class Part:
    """A gradient of an input of this shape: `values` at the elements that its changed layout names, 0 elsewhere."""

    __slots__ = ("_layout", "change", "values")

    def __init__(self, shape: Shape, change: Callable[[Layout], Layout], values: Tensor) -> None:
        self._layout, self.change, self.values = dense(shape), change, values

    @property
    def shape(self) -> Shape:
        return self._layout.shape


class Gathered:
    """The sum of a part and of what came before and behind it, in memory of its own."""

    __slots__ = ("_written", "total")

    def __init__(self, before: Tensor | None, part: Part) -> None:
        like = part.values
        self.total = zeros(part.shape, like.dtype, like.ops) if before is None else before.copy()
        self._written = Places()
        if before is not None:
            self._written.add(_places(self.total.layout))
        self.add(part)

    def add(self, part: Part) -> None:
        """Add a part, which is written as it is where nothing but the first zeros can lie."""
        target = self.total.viewed(part.change)
        is_first = self._written.add(_places(target.layout))
        target[...] = part.values if is_first else target + part.values


class Places:
    """Ranges of places, joined where they meet: so that as many parts as there are take no longer each than a few."""

    __slots__ = ("_starts", "_stops")

    def __init__(self) -> None:
        self._starts: list[int] = []  # of ranges that do not meet, in their order
        self._stops: list[int] = []

    def add(self, places: range) -> bool:
        """Add a range; whether none of it was there before."""
        if not places:
            return True
        starts, stops, start, stop = self._starts, self._stops, places.start, places.stop
        behind = bisect_right(stops, start)  # the first that ends behind where this starts
        is_new = behind == len(starts) or starts[behind] >= stop
        first, last = bisect_left(stops, start), bisect_right(starts, stop)  # those that it meets
        if first < last:
            start, stop = min(start, starts[first]), max(stop, stops[last - 1])
        starts[first:last], stops[first:last] = [start], [stop]
        return is_new


def _places(layout: Layout) -> range:
    """From the first place in the storage to behind the last one."""
    if not layout.size:
        return range(0)
    reaches = [(length - 1) * stride for length, stride in zip(layout.shape, layout.strides, strict=True)]
    first = layout.offset + sum(reach for reach in reaches if reach < 0)
    return range(first, layout.offset + sum(reach for reach in reaches if reach > 0) + 1)
