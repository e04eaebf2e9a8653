"""How tensors lie in their storages: the kinds that cases name, and what a call is told of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Layout:
    """A storage of `size` places, and where a tensor's elements lie in it."""

    size: int
    strides: tuple[int, ...]
    offset: int


def _in_order(shape: Shape, order: Sequence[int], step: int = 1, padding: int = 0) -> tuple[int, ...]:
    """Strides of axes that lie in this order, the last of them closest; `padding` places behind each run of it."""
    strides = [0] * len(shape)
    for place, axis in enumerate(reversed(order)):
        strides[axis] = step
        step *= max(1, shape[axis])
        step += padding if place == 0 else 0
    return tuple(strides)


def _laid(shape: Shape, strides: tuple[int, ...], before: int = 0, behind: int = 0) -> Layout:
    """The smallest storage for these strides, and so many places before and behind that no element names."""
    reaches = [(max(1, length) - 1) * stride for length, stride in zip(shape, strides, strict=True)]
    below, above = sum(-reach for reach in reaches if reach < 0), sum(reach for reach in reaches if reach > 0)
    return Layout(before + below + above + 1 + behind, strides, before + below)


def _dense(shape: Shape) -> Layout:
    return _laid(shape, _in_order(shape, range(len(shape))))


def _turned(shape: Shape) -> Layout:
    """The first axis closest, as a transpose of a dense array lies."""
    return _laid(shape, _in_order(shape, range(len(shape))[::-1]))


def _rotated(shape: Shape) -> Layout:
    """The last axis farthest, the others in order."""
    return _laid(shape, _in_order(shape, [*range(len(shape))[-1:], *range(len(shape))[:-1]]))


def _padded(shape: Shape) -> Layout:
    """Rows of a wider array: dense but for what stands between them, before the first and behind the last."""
    return _laid(shape, _in_order(shape, range(len(shape)), padding=3), before=1, behind=2)


def _sliced(shape: Shape) -> Layout:
    """Every other place of a larger array, from the fourth on."""
    return _laid(shape, _in_order(shape, range(len(shape)), step=2, padding=1), before=3, behind=1)


def _reversed(shape: Shape) -> Layout:
    """Every axis turned about."""
    return _laid(shape, tuple(-stride for stride in _in_order(shape, range(len(shape)))))


def _half_reversed(shape: Shape) -> Layout:
    """The first axis turned about, and every other one from there."""
    dense = _in_order(shape, range(len(shape)))
    return _laid(shape, tuple(-stride if axis % 2 == 0 else stride for axis, stride in enumerate(dense)), before=2)


def _first_reversed(shape: Shape) -> Layout:
    """Dense, the first axis alone turned about."""
    first, *others = _in_order(shape, range(len(shape)))
    return _laid(shape, (-first, *others))


def _turned_apart(shape: Shape) -> Layout:
    """The first axis closest, and a place between all runs of every axis: no two of them lie as one would."""
    strides, step = [], 1
    for length in shape:
        strides.append(step)
        step = step * length + 1
    return _laid(shape, tuple(strides))


def _behind_one(shape: Shape) -> Layout:
    """Dense behind one place: whole vectors of numbers, none of which begins where the storage's do."""
    return _laid(shape, _in_order(shape, range(len(shape))), before=1)


def _planes_apart(shape: Shape) -> Layout:
    """Dense but for a place behind each plane: of the vectors of all but the first none begins where those do."""
    first, *others = _in_order(shape, range(len(shape)))
    return _laid(shape, (first + 1, *others))


def _repeated(shape: Shape) -> Layout:
    """The same along the first axis, and every other one from there: what broadcasting makes of a smaller array."""
    return _repeating(shape, [axis % 2 == 0 for axis in range(len(shape))])


def _repeated_last(shape: Shape) -> Layout:
    """The same along the last axis alone."""
    return _repeating(shape, [axis == len(shape) - 1 for axis in range(len(shape))])


def _constant(shape: Shape) -> Layout:
    """One number everywhere."""
    return _laid(shape, (0,) * len(shape), before=1)


def _repeating(shape: Shape, repeats: Sequence[bool]) -> Layout:
    smaller = tuple(1 if again else length for length, again in zip(shape, repeats, strict=True))
    dense = _in_order(smaller, range(len(shape)))
    return _laid(shape, tuple(0 if again else stride for stride, again in zip(dense, repeats, strict=True)))


WRITTEN: Mapping[str, Callable[[Shape], Layout]] = {
    "dense": _dense,
    "turned": _turned,
    "rotated": _rotated,
    "padded": _padded,
    "sliced": _sliced,
    "reversed": _reversed,
    "half_reversed": _half_reversed,
}
LAYOUTS: Mapping[str, Callable[[Shape], Layout]] = {
    **WRITTEN,
    "repeated": _repeated,
    "repeated_last": _repeated_last,
    "constant": _constant,
}
# The others by no design, since few operations tell them from those.
OF_ROWS: Mapping[str, Callable[[Shape], Layout]] = {
    **LAYOUTS,
    "first_reversed": _first_reversed,
    "turned_apart": _turned_apart,
    "behind_one": _behind_one,
    "planes_apart": _planes_apart,
}


def described(operand: str, layout: Layout) -> dict[str, Any]:
    """Return what a call is told of an operand's storage, by the header's names."""
    return {
        f"{operand}_size": layout.size,
        f"{operand}_strides": layout.strides,
        f"{operand}_offset": layout.offset,
    }


def matrix_layout(shape: Shape, kind: str, without: int) -> Layout:
    """A factor of a product: it lies as `kind` says without the axis along which it is the same."""
    held = tuple(length for axis, length in enumerate(shape) if axis != without % len(shape))
    layout = OF_ROWS[kind](held)
    strides = list(layout.strides)
    strides.insert(without % len(shape), 0)
    return Layout(layout.size, tuple(strides), layout.offset)
