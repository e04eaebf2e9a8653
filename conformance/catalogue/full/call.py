"""A call at full size: drawn small, laid out large, so that what each of its millions of elements must be is known.

A few rows (or columns, or elements) of every long axis are drawn; every place of the axis holds one of them, in no
order, and where the operation is linear also times a power of two of either sign, which moves no rounding.  The same
operation at the small size then tells what stands at every place, each element with its own limit.  Where an operation
sums along such an axis, the sum is stated with how often each term stands in it (sums.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from numpy.typing import NDArray

from bindings.header.records import Parameter
from conformance import operations
from conformance.catalogue.cases.data import DATA, Draw
from conformance.catalogue.cases.spec import Arguments, Finish, Maker, Sizes
from reference import random

from .layout import in_memory, laid_out
from .places import Places, shuffled

Placed = Mapping[str, Places]
# Of the small and the full sizes and a draw: arrays that are no copies of small ones (by name the small and the full
# one), and places of axes that follow from them.
Arranged = tuple[dict[str, tuple[NDArray[Any], NDArray[Any]]], dict[str, Places]]
Derive = Callable[[Arguments, Placed], Arguments]
Arrange = Callable[[Sizes, Sizes, Draw], Arranged]


@dataclass(frozen=True)
class Drawn:
    """The same call small and at full size, and which small place stands at each full one, by the axis's SHAPE text.

    Arrays of the full call that are laid out are LaidOut.
    """

    small: Arguments
    full: Arguments
    places: Placed

    def whole(self) -> Arguments:
        """Return the arguments of the full call, its arrays in memory."""
        return {name: in_memory(value) for name, value in self.full.items()}


@dataclass(frozen=True)
class FullCall:
    """One call of one operation at the full model's sizes.

    sizes: of the full call, with its scalars.  drawn: of which axes how many are drawn; other axes are drawn whole.
    scaled: which arrays are multiplied by an axis's factors, inputs and outputs; signed: factors of either sign.
    whole: which arrays stand whole along an axis that is drawn, outputs among them: what they hold differs by place.
    derive: the small arrays that follow from others and from the places.
    carried_out: the reference once more, where it sums along an axis that is not drawn whole; given the places.
    why: what this call has that no other has; where it takes fewer tokens than the model's 8,192, the reason.
    """

    operation: str
    sizes: Sizes
    drawn: Mapping[str, int] = field(default_factory=dict)
    inputs: Mapping[str, str | Maker] = field(default_factory=dict)
    scaled: Mapping[str, Sequence[str]] = field(default_factory=dict)
    signed: bool = True
    finish: Finish | None = None
    arrange: Arrange | None = None
    whole: Mapping[str, Sequence[str]] = field(default_factory=dict)
    derive: Derive | None = None
    carried_out: Callable[[Placed], Callable[..., Any]] | None = None
    variant: str = ""
    why: str = ""

    @property
    def id(self) -> str:
        return "/".join(filter(None, ("full", self.operation, self.variant)))

    @property
    def small_sizes(self) -> dict[str, Any]:
        """The sizes of the small call."""
        small = {**self.sizes, **{name: n for name, n in self.drawn.items() if name in self.sizes}}
        if "sizes" in self.drawn:
            small["sizes"] = tuple(min(self.drawn["sizes"], length) for length in self.sizes["sizes"])
        return small

    def draw(self, seed: int = 0) -> Drawn:
        """Return the call's arguments, small and at full size; the same for the same id and seed, always."""
        source = Draw(random.stream("full", self.id, seed))
        given, arranged = self.arrange(self.small_sizes, self.sizes, source) if self.arrange else ({}, {})
        places = {**self._places(source), **arranged}
        function = operations.OPERATIONS[self.operation]
        small = self._small(source, {name: pair[0] for name, pair in given.items()}, places)
        full = {**small, **{name: self.sizes[name] for name in operations.scalars(function) if name in self.drawn}}
        for parameter in operations.read_arrays(function):
            if parameter.name in given:
                full[parameter.name] = given[parameter.name][1].astype(parameter.type.dtype)
            else:
                full[parameter.name] = self._spread(parameter, small[parameter.name], places)
        return Drawn(small, full, places)

    def _small(self, source: Draw, given: Mapping[str, NDArray[Any]], places: Placed) -> Arguments:
        function, sizes = operations.OPERATIONS[self.operation], self.small_sizes
        made: Arguments = {}
        for parameter in operations.read_arrays(function):
            name = parameter.name
            made[name] = given[name] if name in given else self._filled(parameter, sizes, source)
        for name in operations.scalars(function):
            made[name] = sizes[name]
        if self.finish:
            made |= self.finish(made, sizes, source)
        made = operations.typed(function, made)
        return operations.typed(function, made | self.derive(made, places)) if self.derive else made

    def _filled(self, parameter: Parameter, sizes: Sizes, source: Draw) -> Any:
        return operations.fill(parameter, sizes, partial(self._make, parameter.name, source, sizes))

    def _make(self, name: str, source: Draw, sizes: Sizes, shape: tuple[int, ...]) -> NDArray[Any]:
        maker = self.inputs.get(name, "plain")
        return DATA[maker](source.of(name), shape) if isinstance(maker, str) else maker(source.of(name), shape, sizes)

    def _places(self, source: Draw) -> dict[str, Places]:
        """The places of every axis that is not drawn whole."""
        found = {}
        for name, members in self.drawn.items():
            lengths = {name: self.sizes[name]}
            if name == "sizes":
                lengths = {f"sizes[{i}]": length for i, length in enumerate(self.sizes["sizes"])}
            for axis, length in lengths.items():
                factors = ("+-" if self.signed else "+") if name in self.scaled else ""
                found[axis] = shuffled(source.of("places", axis), length, min(members, length), factors)
        return found

    def _spread(self, parameter: Parameter, small: Any, places: Placed) -> Any:
        if parameter.each:
            return [laid_out(one, axes_of(parameter, i), places) for i, one in enumerate(small)]
        held = self.placed(parameter.name, places)
        return laid_out(small, axes_of(parameter), held, self.axes_scaling(parameter.name))

    def placed(self, array: str, places: Placed) -> dict[str, Places]:
        """The places of the axes along which an array is drawn."""
        return {axis: held for axis, held in places.items() if array not in self.whole.get(axis, ())}

    def axes_scaling(self, array: str) -> tuple[str, ...]:
        """The axes whose factors an array is multiplied by."""
        return tuple(axis for axis, arrays in self.scaled.items() if array in arrays)


def axes_of(parameter: Parameter, index: int | None = None) -> tuple[str, ...]:
    """Return the SHAPE texts of an array's axes; of a list's member the entry of its sizes."""
    if parameter.each:
        return (f"{parameter.each[1]}[{index}]",)
    return tuple(axis.size.text for axis in parameter.shape)
