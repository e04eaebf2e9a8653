"""Gradients that are 0 but where a view lies: they are added up in one place, not each as large as what was viewed."""

from __future__ import annotations

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
        self._written: list[range] = [] if before is None else [_places(self.total.layout)]
        self.add(part)

    def add(self, part: Part) -> None:
        """Add a part, which is written as it is where nothing but the first zeros can lie."""
        target = self.total.viewed(part.change)
        places = _places(target.layout)
        is_first = all(places.start >= one.stop or one.start >= places.stop for one in self._written)
        target[...] = part.values if is_first else target + part.values
        self._written.append(places)


def _places(layout: Layout) -> range:
    """From the first place in the storage to behind the last one."""
    if not layout.size:
        return range(0)
    reaches = [(length - 1) * stride for length, stride in zip(layout.shape, layout.strides, strict=True)]
    first = layout.offset + sum(reach for reach in reaches if reach < 0)
    return range(first, layout.offset + sum(reach for reach in reaches if reach > 0) + 1)
