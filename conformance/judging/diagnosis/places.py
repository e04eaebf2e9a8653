"""Where the wrong elements of an output lie, in words: rows, columns, tiles, a triangle, where an input is negative."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from conformance import operations

from .failed import Array, Mask, Wrong
from .numbers import CHANCE

FEW = 3  # places that are listed one by one
_TILES = (4, 1 << 14)
_COUNTED = "in "  # how the words begin that count indices of no order
_BETWEEN = 3  # elements whose inputs lie next to each other: two may by chance


@dataclass(frozen=True)
class Place:
    """Some elements of an output, and how to speak of them; "" for all of them."""

    at: Mask
    words: str


def places(wrong: Wrong) -> list[Place]:
    """Everywhere; then, where they are fewer, the smallest regular region that holds every bad element; then those."""
    bad = wrong.bad
    everywhere = Place(np.ones(bad.shape, bool), "")
    regions = list(_regions(wrong))
    region = min(regions, key=lambda place: int(place.at.sum()))
    named = next((p for p in _conditions(wrong) if np.array_equal(p.at, bad)), None)
    if named and region.words.startswith(_COUNTED):  # which says no more than how many they are
        region = named
    found = {int(p.at.sum()): p for p in (Place(bad, named.words if named else _scattered(wrong)), region, everywhere)}
    return [found[size] for size in sorted(found, reverse=True)]


def _regions(wrong: Wrong) -> Iterator[Place]:
    bad = wrong.bad
    inside = np.ones(bad.shape, bool)
    words = []
    for axis, name in enumerate(wrong.axes):
        hit = bad.any(axis=tuple(a for a in range(bad.ndim) if a != axis))
        inside &= hit.reshape([-1 if a == axis else 1 for a in range(bad.ndim)])
        if not hit.all():
            words.append(indices_said(np.flatnonzero(hit), hit.size, name))
    yield Place(inside, ", ".join(words))
    if bad.ndim >= 2:
        yield from _triangles(wrong, inside, words)
        first = int(np.flatnonzero(bad)[0])
        behind = np.arange(bad.size).reshape(bad.shape) >= first
        yield Place(behind, f"from element {list(map(int, np.unravel_index(first, bad.shape)))} on")


def _triangles(wrong: Wrong, inside: Mask, words: list[str]) -> Iterator[Place]:
    """The parts of the last two axes that a causal mask tells apart."""
    rows, columns = wrong.bad.shape[-2:]
    i, j = np.arange(rows)[:, None], np.arange(columns)
    row, column = wrong.axes[-2:] if wrong.axes[-2] != wrong.axes[-1] else ("row", "column")
    for part, sign in ((j > i, ">"), (j < i, "<"), (j == i, "=")):
        if not wrong.bad[..., ~part].any():
            yield Place(inside & part, ", ".join([*words, f"only where {column} {sign} {row}"]))


def indices_said(hit: Array, size: int, name: str) -> str:
    """Say which of the `size` indices of one axis are hit: "columns from 1024 on"."""
    low, high, count = int(hit[0]), int(hit[-1]), len(hit)
    many = f"{name}s" if name in ("element", "row", "column") else name
    if count == 1:
        return f"the last {name} ({low})" if low == size - 1 else f"{name} {low}"
    if count == high - low + 1:
        if high == size - 1:
            return f"{many} from {low} on{_tile(low, size)}"
        return f"{many} {low} to {high}{_whole_tile(low, count)}"
    step = int(hit[1] - hit[0])
    if count > FEW and (np.diff(hit) == step).all() and high + step >= size:
        return f"every {step}{'nd' if step == 2 else 'rd' if step == 3 else 'th'} {name} from {low} on"
    if count <= FEW:
        return f"{many} {', '.join(str(int(h)) for h in hit)}"
    return f"{_COUNTED}{count} of {size} {many}"


def _tile(low: int, size: int) -> str:
    """Say so where the part begins at the last multiple of a power of two: what a kernel's last, partial tile is."""
    tile = low & -low
    if _TILES[0] <= tile <= _TILES[1] and low + tile > size:
        return f", past the last whole tile of {tile}"
    return ""


def _whole_tile(low: int, count: int) -> str:
    is_tile = _TILES[0] <= count <= _TILES[1] and count & (count - 1) == 0 and low % count == 0
    return f", one tile of {count}" if is_tile else ""


def _scattered(wrong: Wrong) -> str:
    bad = wrong.bad
    first = [int(i) for i in np.argwhere(bad)[0]]
    count = int(bad.sum())
    return f"at {first}" if count == 1 else f"in {count} of {bad.size} elements, the first at {first}"


def _conditions(wrong: Wrong) -> Iterator[Place]:
    """Where an input is negative, not finite, repeated, above or below a number."""
    bad = wrong.bad
    if _has_few_choices(bad.size, int(bad.sum())):
        return
    for name, values in inputs_at(wrong).items():
        with np.errstate(invalid="ignore"):
            tests = {"negative": values < 0, "zero": values == 0, "NaN": np.isnan(values), "infinite": np.isinf(values)}
        for word, at in tests.items():
            yield Place(at, f"where {name} is {word}")
        yield from _thresholds(name, values, bad)


def _has_few_choices(size: int, count: int) -> bool:
    """Whether so many of all elements can be chosen in fewer than 1 / CHANCE ways.

    As soon as there are more the rest is left: the binomial coefficient of a large array has thousands of digits.
    """
    ways = 1
    for taken in range(min(count, size - count)):
        ways = ways * (size - taken) // (taken + 1)
        if ways >= 1 / CHANCE:
            return False
    return ways < 1 / CHANCE


def _thresholds(name: str, values: Array, bad: Mask) -> Iterator[Place]:
    numbers = np.isfinite(values)
    inside, outside = values[bad & numbers], values[~bad & numbers]
    if inside.size and outside.size:
        if inside.min() > outside.max():
            yield Place(numbers & (values >= inside.min()), f"where {name} is above {outside.max():.4g}")
        if inside.max() < outside.min():
            yield Place(numbers & (values <= inside.max()), f"where {name} is below {outside.min():.4g}")
        if inside.size >= _BETWEEN:
            low, high = inside.min(), inside.max()
            yield Place(numbers & (values >= low) & (values <= high), f"where {name} is {low:.4g} to {high:.4g}")


def inputs_at(wrong: Wrong) -> dict[str, Array]:
    """The values of each input of numbers at the output's places, by name."""
    found = {n: _spread(a, wrong.bad.shape) for n, a in wrong.inputs.items() if a.dtype.kind in "fi"}
    named = {f"the count of its {name}": _spread(each, wrong.bad.shape) for name, each in _counts(wrong)}
    return {name: values for name, values in (found | named).items() if values is not None}


def _counts(wrong: Wrong) -> Iterator[tuple[str, Array]]:
    """How often each entry of the output's first axis is named, by each array of indices into that axis."""
    function = operations.OPERATIONS.get(wrong.call.operation)
    if function is None or wrong.output not in function.by_name or not wrong.parameter.shape or wrong.parameter.each:
        return
    for name, array in wrong.inputs.items():
        limit = function.by_name[name].limit if name in function.by_name else None
        if array.dtype.kind == "i" and limit and limit[1].text == wrong.parameter.shape[0].size.text:
            size = wrong.got.shape[0]
            yield name, np.bincount(array[(array >= 0) & (array < size)], minlength=size)


def spread_at(wrong: Wrong) -> dict[str, int]:
    """At how many of the output's places each element of these inputs stands, by name: 1 where they are as many."""
    inputs = wrong.inputs  # what is no input is one for each entry of the first axis
    sizes = {name: inputs[name].size if name in inputs else len(wrong.got) for name in inputs_at(wrong)}
    return {name: wrong.bad.size // size for name, size in sizes.items()}


def _spread(array: Array, shape: tuple[int, ...]) -> Array | None:
    """An input's values at the output's places: of the same shape, or one for each entry of the first axes."""
    if array.shape == shape:
        return array
    if array.ndim and array.shape == shape[: array.ndim]:
        return np.broadcast_to(array.reshape(*array.shape, *[1] * (len(shape) - array.ndim)), shape)
    return None
