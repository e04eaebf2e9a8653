"""What a tensor of the model is in the graph: a value with its axes in another order, and axes of length 1 between.

ONNX's recurrent operators have the steps first and an axis for the direction; the graph's have the batch first.
Exported models transpose before and behind, and what is left of it all is the value itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .refused import expect

Shape = tuple[int, ...]
TURNED = "axes in another order, where no recurrent operator has asked for it"


@dataclass(frozen=True)
class View:
    """value: its name in the graph; axes: for each of the tensor's which of the value's it is.

    None stands for one of length 1 that the value has not.
    """

    value: str
    axes: tuple[int | None, ...]

    def shape(self, of_value: Shape) -> Shape:
        """The tensor's shape."""
        return tuple(1 if axis is None else of_value[axis] for axis in self.axes)

    @property
    def is_plain(self) -> bool:
        """Whether the tensor is the value as it lies, but for axes of length 1 that one of them has not."""
        held = [axis for axis in self.axes if axis is not None]
        return held == sorted(held)

    def transposed(self, order: Sequence[int]) -> View:
        """The tensor with its axes in another order."""
        return View(self.value, tuple(self.axes[axis] for axis in order))

    def squeezed(self, places: Sequence[int], of_value: Shape) -> View:
        """The tensor without these axes, which have the length 1; all of those where none is named."""
        lengths = self.shape(of_value)
        gone = {place % len(lengths) for place in places} or {i for i, n in enumerate(lengths) if n == 1}
        expect(all(lengths[place] == 1 for place in gone), "an axis is taken away that is longer than 1")
        return View(self.value, tuple(axis for i, axis in enumerate(self.axes) if i not in gone))

    def unsqueezed(self, places: Sequence[int]) -> View:
        """The tensor with axes of length 1 at these places of the new one."""
        rank = len(self.axes) + len(places)
        new, held = {place % rank for place in places}, iter(self.axes)
        return View(self.value, tuple(None if i in new else next(held) for i in range(rank)))


def plain(value: str, rank: int) -> View:
    """A tensor that is the value itself."""
    return View(value, tuple(range(rank)))
